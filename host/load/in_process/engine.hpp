// An engine that a plugin created, with handles checked and no exceptions: what probe, SDK and commands use.
#pragma once
#include <enginehost/engine_plugin.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "host/load/in_process/call.hpp"
#include "host/load/in_process/health.hpp"
#include "host/load/in_process/load.hpp"

namespace enginehost::load {

struct EngineOptions {
  std::vector<std::pair<std::string, std::string>> options;
  std::int32_t log_level = ENGINE_LOG_WARNING;
  // Called on the plugin's threads, possibly concurrently; must not throw.
  std::function<void(std::int32_t level, std::string_view topic, std::string_view message)> log;
  std::string host_name = "enginehost", host_version;
  CallOptions call;                // for create()
  std::shared_ptr<Health> health;  // of an engine that this one replaces; not set: a new one
};

struct Device {
  engine_device id{};                               // how tensors name it
  std::string kind, name, architecture, driver;     // "cuda", "NVIDIA GeForce RTX 4090", "8.9", "535.104.05"
  std::string uuid;                                 // 32 hexadecimal digits, or empty
  std::uint64_t memory_total = 0, memory_free = 0;  // 0: unknown
  std::string text() const;                         // "cuda:0"
  bool is_accelerator() const { return id.type != ENGINE_CPU; }
  // True for "cuda:0", "cuda" (any of the kind), "gpu" (any that is not the processor), "cpu".
  bool is_meant_by(std::string_view wanted) const;
};

// Returns the first device that the list "cuda:1,cpu" means; an earlier entry wins over a later one. Null
// when no entry matches.
const Device* first_meant(const std::vector<Device>& devices, std::string_view list);
// Returns the device that `wanted` means, or the first one if it is empty. EH-S09: no_such_device().
Result<Device> find_device(const std::vector<Device>& devices, const std::string& wanted);
Diagnosis no_such_device(const std::vector<Device>& devices, const std::string& wanted);
// Returns the default device: an accelerator before the processor. Null when there are no devices.
const Device* usual_device(const std::vector<Device>& devices);

// Must be destroyed before its plugin. Adds no locks: engine_plugin.h states at each table which functions
// may overlap.
class Engine {
 public:
  // EH-E01: the plugin's own report. EH-P10: canceled or timed out. EH-R12: a required table is not offered
  // ("missing_table"), or a table that is offered has a NULL member ("missing_function").
  static Result<std::unique_ptr<Engine>> create(std::shared_ptr<LoadedPlugin> plugin,
                                                EngineOptions options = {});
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();

  const LoadedPlugin& plugin() const { return *plugin_; }
  // EH-R08 and EH-R09: process state that create() changed and ProcessStateGuard restored. EH-E01 with
  // "overcome": an error that create() reported before it returned ENGINE_OK.
  const std::vector<Diagnosis>& warnings() const { return warnings_; }
  engine_instance* instance() const { return instance_; }
  // Adds the engine's name ("engine") to a failure, because remedies name the engine.
  template <class T>
  Result<T> named(Result<T> result) const {
    if (!result) name_in(result.error());
    return result;
  }
  // Health of the engine. Every piece of work on a device is reported to it.
  const std::shared_ptr<Health>& health() const { return health_; }
  // The number of this engine in health().
  std::uint64_t number() const { return number_; }
  Work work_on(std::string device, WorkKind kind = WorkKind::computing) const {
    return Work(*health_, number_, std::move(device), kind);
  }

  // Always contains "version", such as "1.22.0".
  const std::vector<std::pair<std::string, std::string>>& facts() const { return facts_; }
  std::vector<std::string> capabilities() const;

  // Function tables. The device and self-test tables always exist; the others may be null.
  const engine_device_v1* device_table() const { return devices_; }
  const engine_selftest_v1* selftest_table() const { return selftest_; }
  const engine_tensor_v1* tensor_table() const { return tensors_; }
  const engine_op_v1* op_table() const { return ops_; }
  const engine_model_v1* model_table() const { return models_; }

  Result<std::vector<Device>> devices() const;
  // Returns "cuda:0", as the engine names the device.
  std::string name_of(engine_device device) const;
  // `level` is ENGINE_SELFTEST_*. EH-E01 with the plugin's report.
  Result<void> self_test(std::int32_t level, engine_device device, CallOptions options = {});

 private:
  Engine() = default;
  void name_in(Diagnosis& failure) const;
  struct Host;
  std::shared_ptr<LoadedPlugin> plugin_;
  std::unique_ptr<Host> host_;
  std::shared_ptr<Health> health_;
  std::uint64_t number_ = 0;
  engine_instance* instance_ = nullptr;
  std::vector<std::pair<std::string, std::string>> facts_;
  std::vector<Diagnosis> warnings_;
  const engine_device_v1* devices_ = nullptr;
  const engine_selftest_v1* selftest_ = nullptr;
  const engine_tensor_v1* tensors_ = nullptr;
  const engine_op_v1* ops_ = nullptr;
  const engine_model_v1* models_ = nullptr;
};

// Returns "cpu", "cuda", "rocm", "metal" or "device 12". parse_device() is the inverse, for "cuda:0" and
// "cpu"; it returns false for other texts.
std::string kind_of_device(std::int32_t type);
bool parse_device(std::string_view text, engine_device& device);

}  // namespace enginehost::load
