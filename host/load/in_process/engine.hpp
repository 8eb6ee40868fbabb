// An engine made by a plugin, with handles checked and nothing thrown: what probe, SDK and commands use.
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
  CallOptions call;                 // for create()
  std::shared_ptr<Health> health;   // of an engine whose place this one takes; not set: a new one
  Streams streams = Streams::kept;  // as LoadRequest's
};

struct Device {
  engine_device id{};                               // how tensors name it
  std::string kind, name, architecture, driver;     // "cuda", "NVIDIA GeForce RTX 4090", "8.9", "535.104.05"
  std::string uuid;                                 // 32 hexadecimal digits, or empty
  std::uint64_t memory_total = 0, memory_free = 0;  // 0: unknown
  std::string text() const;                         // "cuda:0"
  bool is_accelerator() const { return id.type != ENGINE_CPU; }
  // "cuda:0", "cuda" (any of the kind), "gpu" (any that is not the processor), "cpu".
  bool is_meant_by(std::string_view wanted) const;
};

// The first device that the list "cuda:1,cpu" means, its first entry before its second; null when it means
// none.
const Device* first_meant(const std::vector<Device>& devices, std::string_view list);
// What computes when nobody wishes for a device: an accelerator before the processor; null when there are
// none.
const Device* usual_device(const std::vector<Device>& devices);

// Destroyed before its plugin. Which functions may overlap is written at each table in engine_plugin.h; this
// class adds no lock.
class Engine {
 public:
  // EH-E01 (the plugin's own report), EH-P10; EH-R12 with "missing_table" when a required table is not
  // offered, and also with "missing_function" when any that is offered has that member NULL.
  static Result<std::unique_ptr<Engine>> create(std::shared_ptr<LoadedPlugin> plugin,
                                                EngineOptions options = {});
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();

  const LoadedPlugin& plugin() const { return *plugin_; }
  // EH-R08 and EH-R09 for what kept.hpp keeps, was changed by create() and was set back; EH-E01 with
  // "overcome" for what create() reported and overcame.
  const std::vector<Diagnosis>& warnings() const { return warnings_; }
  engine_instance* instance() const { return instance_; }
  // With the engine's name ("engine") in a failure, so that its remedies can name it.
  template <class T>
  Result<T> named(Result<T> result) const {
    if (!result) name_in(result.error());
    return result;
  }
  // What its work has shown. Every piece of work on a device is told there.
  const std::shared_ptr<Health>& health() const { return health_; }
  // Its number there.
  std::uint64_t number() const { return number_; }
  Work work_on(std::string device, WorkKind kind = WorkKind::computing) const {
    return Work(*health_, number_, std::move(device), kind);
  }

  // "version" = "1.22.0" always.
  const std::vector<std::pair<std::string, std::string>>& facts() const { return facts_; }
  std::vector<std::string> capabilities() const;

  // Function tables; devices and self-test are always there, the others may be null.
  const engine_device_v1* device_table() const { return devices_; }
  const engine_selftest_v1* selftest_table() const { return selftest_; }
  const engine_tensor_v1* tensor_table() const { return tensors_; }
  const engine_op_v1* op_table() const { return ops_; }
  const engine_model_v1* model_table() const { return models_; }

  Result<std::vector<Device>> devices() const;
  // "cuda:0", as the engine calls it.
  std::string name_of(engine_device device) const;
  // level: ENGINE_SELFTEST_*. EH-E01 with the plugin's report.
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

// "cpu", "cuda", "rocm", "metal", "device 12"; and its inverse for "cuda:0", "cpu" (nothing when it is
// neither).
std::string kind_of_device(std::int32_t type);
bool parse_device(std::string_view text, engine_device& device);

}  // namespace enginehost::load
