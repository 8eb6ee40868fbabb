// enginehost.hpp - the C++ form of enginehost.h: header-only, C++17, with the same rules.
//
// Failures are thrown as enginehost::sdk::Error, on the caller's side only; exceptions never cross the C API.
// An exception of on_progress or on_consent stops the call, which then throws it again. An exception of
// on_device, on_log or a watch's callback ends the program, because these run inside any call or thread. An
// empty device means the default device (enginehost_engine_choose_device).
#pragma once
#include <enginehost/enginehost.h>
#include <enginehost/tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace enginehost::sdk {

namespace detail {
struct Free {
  void operator()(enginehost_engine* p) const { enginehost_engine_free(p); }
  void operator()(enginehost_model* p) const { enginehost_model_free(p); }
  void operator()(enginehost_outputs* p) const { enginehost_outputs_free(p); }
  void operator()(enginehost_error* p) const { enginehost_error_free(p); }
  void operator()(enginehost_cancel* p) const { enginehost_cancel_free(p); }
  void operator()(char* p) const { enginehost_text_free(p); }
};
template <class T>
using Handle = std::unique_ptr<T, Free>;
}  // namespace detail

// A full diagnosis. what() is one screen of text.
class Error : public std::exception {
 public:
  Error(enginehost_status status, enginehost_error* error) : status_(status), error_(error, detail::Free{}) {}
  const char* what() const noexcept override {
    return error_ ? enginehost_error_text(error_.get()) : "out of memory while reporting a failure";
  }
  enginehost_status status() const noexcept { return status_; }
  std::string code() const { return enginehost_error_code(error_.get()); }
  std::string title() const { return enginehost_error_title(error_.get()); }
  std::string cause() const { return enginehost_error_cause(error_.get()); }
  std::string json() const { return enginehost_error_json(error_.get()); }

 private:
  enginehost_status status_;
  std::shared_ptr<enginehost_error> error_;  // exceptions are copied
};

namespace detail {
// Makes a call of the C API and throws its failure.
template <class Function>
void call(Function&& function) {
  enginehost_error* error = nullptr;
  const enginehost_status status = function(&error);
  if (status != ENGINEHOST_OK) throw Error(status, error);
}
inline const char* text(const std::string& value) { return value.empty() ? nullptr : value.c_str(); }
// Takes the document that a call gave out.
inline std::string take(char* document) {
  const Handle<char> owned(document);
  if (!owned) throw std::bad_alloc();
  return owned.get();
}

}  // namespace detail

// "0.1.0"
inline std::string version() { return enginehost_version(); }
// Returns this machine as JSON, without UUIDs and user names.
inline std::string platform() {
  char* json = nullptr;
  detail::call([&](enginehost_error** error) { return enginehost_platform(&json, error); });
  return detail::take(json);
}

// A cancel token. Copies refer to the same token.
class Cancel {
 public:
  Cancel() : Cancel(enginehost_cancel_new()) {}
  void now() const { enginehost_cancel_now(token_.get()); }
  // Returns another token, which is canceled when this one is.
  Cancel below() const { return Cancel(enginehost_cancel_new_below(token_.get())); }
  const enginehost_cancel* get() const { return token_.get(); }

 private:
  explicit Cancel(enginehost_cancel* token) : token_(token, detail::Free{}) {}
  std::shared_ptr<enginehost_cancel> token_;
};

struct Request {
  std::string engine, version, flavor, device, cache, helper;
  bool require = false, offline = false, probe = true;
  std::vector<std::string> repositories, accepted_licenses;
  std::function<void(const enginehost_progress&)> on_progress;
  std::function<bool(const enginehost_question&)> on_consent;
  Cancel cancel;
  std::function<void(const enginehost_device_event&)> on_device =
      nullptr;                                  // called as long as the engine is open
  std::uint32_t probe_seconds = 0;              // 0: as configured
  std::vector<std::string> installations = {};  // environments whose engine may be opened in place
  // Called on the engine's threads as long as the engine is open. An exception ends the program.
  std::function<void(const enginehost_log&)> on_log = nullptr;
  int log_level = 0;       // ENGINEHOST_LOG_...; 0: as configured
  std::string force = {};  // a build's id, tried first even if it does not fit this machine
  std::string package_index =
      {};  // URL or folder of the index of Python packages; empty: as configured, else pip's
  bool allow_unsigned = false;  // URLs of `repositories` may be unsigned; their servers then decide what runs
  std::string update =
      {};  // a newer build beside an installed one: "report", "open", "never"; see enginehost.h
  std::string lock = {};  // a lock file; empty: as configured
};

// The result of a small computation on a device; see enginehost_engine_check.
struct Check {
  std::string device, computed_on;
  double milliseconds = 0, cpu_milliseconds = 0;
  std::uint64_t memory_total = 0, memory_free = 0;
  bool reopened = false;
};

struct Device {
  std::string name, description, architecture;
  int type = 0, index = 0;
  std::uint64_t memory_total = 0, memory_free = 0;
};

struct Port {
  std::string name, type;
  bool optional = false;
  std::vector<std::int64_t> shape;  // -1: decided at run time; empty also for a scalar or any shape
  // As in DLPack's DLDataType, one lane; bits 0: any; strings: ENGINEHOST_DTYPE_STRING.
  std::uint8_t dtype_code = 0, dtype_bits = 0;
};

struct Input {
  std::string name;
  const void* tensor = nullptr;  // a DLTensor
};

// The outputs of a run. Destroy them before their engine.
class Outputs {
 public:
  explicit Outputs(enginehost_outputs* outputs) : outputs_(outputs) {}
  std::size_t size() const { return enginehost_outputs_count(outputs_.get()); }
  std::string name(std::size_t number) const { return enginehost_outputs_name(outputs_.get(), number); }
  // Returns a DLTensor, valid until this object is destroyed or the tensor is taken.
  const void* tensor(std::size_t number) const { return enginehost_outputs_tensor(outputs_.get(), number); }
  // The shape, and the elements row by row; throws std::invalid_argument if they have another type.
  std::vector<std::int64_t> shape(std::size_t number) const { return shape_of(tensor(number)); }
  template <class Number>
  std::vector<Number> numbers(std::size_t number) const {
    return numbers_of<Number>(tensor(number));
  }
  DLManagedTensorVersioned* take(std::size_t number) {
    return enginehost_outputs_take(outputs_.get(), number);
  }

 private:
  detail::Handle<enginehost_outputs> outputs_;
};

class Model {
 public:
  explicit Model(enginehost_model* model) : model_(model) {}
  std::vector<Port> inputs() const {
    return ports(enginehost_model_input_count(model_.get()), enginehost_model_input);
  }
  std::vector<Port> outputs() const {
    return ports(enginehost_model_output_count(model_.get()), enginehost_model_output);
  }
  Outputs run(const std::vector<Input>& inputs, const Cancel& cancel = {}) {
    std::vector<enginehost_input> borrowed;
    for (const Input& input : inputs) borrowed.push_back({detail::text(input.name), input.tensor});
    enginehost_outputs* outputs = nullptr;
    detail::call([&](enginehost_error** error) {
      return enginehost_model_run(model_.get(), borrowed.data(), borrowed.size(), cancel.get(), &outputs,
                                  error);
    });
    return Outputs(outputs);
  }

 private:
  template <class Ask>
  std::vector<Port> ports(std::size_t count, Ask ask) const {
    std::vector<Port> all;
    for (std::size_t i = 0; i < count; ++i) {
      enginehost_port port{};
      port.size = sizeof port;
      detail::call([&](enginehost_error** error) { return ask(model_.get(), i, &port, error); });
      Port one{port.name, port.type, port.optional != 0, {}, port.dtype_code, port.dtype_bits};
      if (port.ndim > 0) one.shape.assign(port.shape, port.shape + port.ndim);
      all.push_back(std::move(one));
    }
    return all;
  }
  detail::Handle<enginehost_model> model_;
};

class Engine {
 public:
  Engine(Engine&&) noexcept = default;
  Engine& operator=(Engine&& other) noexcept {
    if (this == &other) return *this;
    const Engine previous(
        std::move(*this));  // destroyed as a whole: first the handle, then what its callbacks use
    request_ = std::move(other.request_);
    watcher_ = std::move(other.watcher_);
    engine_ = std::move(other.engine_);
    return *this;
  }
  ~Engine() = default;

  // Opens an engine. Throws Error with the full diagnosis if nothing could be opened.
  static Engine open(const Request& request) {
    auto kept = std::make_shared<Asked>(request);  // callbacks are called as long as the engine is open
    const Borrowed borrowed(*kept);
    enginehost_engine* engine = nullptr;
    enginehost_error* error = nullptr;
    const enginehost_status status = enginehost_open(&borrowed.c, &engine, &error);
    Engine opened(engine, kept);
    kept->check(status, error);
    return opened;
  }
  // Returns the decision as JSON, without downloading or loading.
  static std::string plan(const Request& request) {
    Asked asked(request);
    const Borrowed borrowed(asked);
    char* json = nullptr;
    enginehost_error* error = nullptr;
    const enginehost_status status = enginehost_plan(&borrowed.c, &json, &error);
    detail::Handle<char> owned(json);
    asked.check(status, error);
    return detail::take(owned.release());
  }

  std::string build() const { return enginehost_engine_build(engine_.get()); }
  std::string flavor() const { return enginehost_engine_flavor(engine_.get()); }
  bool is_fallback() const { return enginehost_engine_is_fallback(engine_.get()) != 0; }
  std::string report() const { return enginehost_engine_report(engine_.get()); }
  std::vector<Device> devices() const {
    std::vector<Device> all;
    for (std::size_t i = 0; i < enginehost_engine_device_count(engine_.get()); ++i) {
      enginehost_device device{};
      device.size = sizeof device;
      detail::call([&](enginehost_error** error) {
        return enginehost_engine_device(engine_.get(), i, &device, error);
      });
      all.push_back({device.name, device.description, device.architecture, device.type, device.index,
                     device.memory_total, device.memory_free});
    }
    return all;
  }
  // Returns the chosen device: "cuda:1", "gpu", "cuda:1,cpu"; empty: the default. See
  // enginehost_engine_choose_device.
  Device device(const std::string& wanted = {}) const {
    enginehost_device device{};
    device.size = sizeof device;
    detail::call([&](enginehost_error** error) {
      return enginehost_engine_choose_device(engine_.get(), detail::text(wanted), &device, error);
    });
    return {device.name,  device.description,  device.architecture, device.type,
            device.index, device.memory_total, device.memory_free};
  }
  // Returns every device but the CPU; if there is none, the CPU alone.
  std::vector<Device> accelerators_or_cpu() const {
    std::vector<Device> all = devices(), chosen;
    for (const Device& one : all)
      if (one.type != 1) chosen.push_back(one);  // DLPack's kDLCPU
    if (chosen.empty()) chosen.push_back(device("cpu"));
    return chosen;
  }
  void set_default_device(const std::string& device) {
    detail::call([&](enginehost_error** error) {
      return enginehost_engine_set_default_device(engine_.get(), detail::text(device), error);
    });
  }
  // Returns true if the device works now; by default an accelerator. `reason`, if given, gets one line about
  // the failure.
  bool functional(const std::string& device = "gpu", std::string* reason = nullptr,
                  const Cancel& cancel = {}) {
    enginehost_error* error = nullptr;
    const enginehost_status status =
        enginehost_engine_functional(engine_.get(), detail::text(device), cancel.get(), &error);
    const detail::Handle<enginehost_error> owned(error);
    if (reason != nullptr) *reason = status == ENGINEHOST_OK ? "" : enginehost_error_cause(error);
    return status == ENGINEHOST_OK;
  }
  // Returns a copy, or nullptr if the tensor (a DLTensor) is on that device already. Call the copy's deleter
  // before the engine is destroyed.
  DLManagedTensorVersioned* copy(const void* tensor, const std::string& device, const Cancel& cancel = {}) {
    DLManagedTensorVersioned* out = nullptr;
    detail::call([&](enginehost_error** error) {
      return enginehost_tensor_copy(engine_.get(), tensor, detail::text(device), cancel.get(), &out, error);
    });
    return out;
  }
  void self_test(int level = 2, const std::string& device = {}) {
    detail::call([&](enginehost_error** error) {
      return enginehost_engine_self_test(engine_.get(), level, detail::text(device), error);
    });
  }
  Check check(const std::string& device = {}, const Cancel& cancel = {}) {
    enginehost_check found{};
    found.size = sizeof found;
    detail::call([&](enginehost_error** error) {
      return enginehost_engine_check(engine_.get(), detail::text(device), cancel.get(), &found, error);
    });
    return {found.device,       found.computed_on, found.milliseconds, found.cpu_milliseconds,
            found.memory_total, found.memory_free, found.reopened != 0};
  }
  // Watches devices. The callback runs on a thread of the watch, until another callback is set, an empty one
  // ends the watch, or the engine is destroyed. An exception of the callback ends the program. See
  // enginehost_engine_watch.
  void watch(std::function<void(const enginehost_device_event&)> on_device, std::uint32_t interval_ms = 0,
             const std::string& device = {}) {
    auto callback = on_device ? std::make_shared<const Watcher>(std::move(on_device)) : nullptr;
    enginehost_watch asked{};
    asked.size = sizeof asked;
    asked.device = detail::text(device);
    asked.interval_ms = interval_ms;
    asked.user_data = const_cast<Watcher*>(callback.get());
    asked.on_device = [](const enginehost_device_event* event, void* data) noexcept {
      const Watcher kept =
          *static_cast<const Watcher*>(data);  // the callback may free the engine, and this with it
      kept(*event);
    };
    // Stored before the thread begins, because the callback may then destroy this object.
    const std::shared_ptr<const Watcher> previous = std::exchange(watcher_, callback);
    enginehost_error* error = nullptr;
    const enginehost_status status =
        enginehost_engine_watch(engine_.get(), callback ? &asked : nullptr, &error);
    if (status == ENGINEHOST_OK) return;
    watcher_ = previous;
    throw Error(status, error);
  }
  // An empty format: from the file's extension.
  Model load(const std::string& path, const std::string& device = {}, const Cancel& cancel = {},
             const std::string& format = {}) {
    enginehost_model* model = nullptr;
    detail::call([&](enginehost_error** error) {
      return enginehost_model_load(engine_.get(), path.c_str(), detail::text(format), detail::text(device),
                                   cancel.get(), &model, error);
    });
    return Model(model);
  }

 private:
  // A running request, and the first exception that its callbacks threw on any thread.
  class Asked {
   public:
    explicit Asked(const Request& asked) : request(asked), stop(asked.cancel.below()) {}

    void keep(std::exception_ptr thrown) noexcept {
      {
        const std::lock_guard<std::mutex> hold(mutex_);
        if (!thrown_) thrown_ = std::move(thrown);
      }
      stop.now();
    }
    bool has_thrown() {
      const std::lock_guard<std::mutex> hold(mutex_);
      return thrown_ != nullptr;
    }
    // Call it after the request: throws the callback's exception, or the request's own failure.
    void check(enginehost_status status, enginehost_error* error) {
      detail::Handle<enginehost_error> owned(error);
      const std::lock_guard<std::mutex> hold(mutex_);
      if (thrown_) std::rethrow_exception(thrown_);
      if (status != ENGINEHOST_OK) throw Error(status, owned.release());
    }

    const Request request;
    const Cancel stop;  // for this call only

   private:
    std::mutex mutex_;
    std::exception_ptr thrown_;
  };

  Engine(enginehost_engine* engine, std::shared_ptr<Asked> request)
      : request_(std::move(request)), engine_(engine) {}

  // A C request that refers to the strings of a C++ request, which must outlive it.
  struct Borrowed {
    explicit Borrowed(Asked& asked) {
      const Request& request = asked.request;
      for (const std::string& repository : request.repositories) repositories.push_back(repository.c_str());
      for (const std::string& id : request.accepted_licenses) licenses.push_back(id.c_str());
      for (const std::string& folder : request.installations) installations.push_back(folder.c_str());
      c.size = sizeof c;
      c.engine = request.engine.c_str();
      c.version = detail::text(request.version);
      c.flavor = detail::text(request.flavor);
      c.device = detail::text(request.device);
      c.force = detail::text(request.force);
      c.require = request.require;
      c.offline = request.offline;
      c.allow_unsigned = request.allow_unsigned;
      c.no_probe = !request.probe;
      c.probe_seconds = request.probe_seconds;
      c.cache = detail::text(request.cache);
      c.helper = detail::text(request.helper);
      c.repositories = repositories.data();
      c.repository_count = repositories.size();
      c.package_index = detail::text(request.package_index);
      c.update = detail::text(request.update);
      c.lock = detail::text(request.lock);
      c.installations = installations.data();
      c.installation_count = installations.size();
      c.accepted_licenses = licenses.data();
      c.accepted_license_count = licenses.size();
      c.user_data = &asked;
      if (request.on_progress)
        c.on_progress = [](const enginehost_progress* progress, void* data) {
          auto& of = *static_cast<Asked*>(data);
          try {
            if (!of.has_thrown()) of.request.on_progress(*progress);
          } catch (...) {
            of.keep(std::current_exception());
          }
        };
      if (request.on_consent)
        c.on_consent = [](const enginehost_question* question, void* data) -> std::int32_t {
          auto& of = *static_cast<Asked*>(data);
          try {
            return !of.has_thrown() && of.request.on_consent(*question) ? 1 : 0;
          } catch (...) {
            of.keep(std::current_exception());
            return 0;
          }
        };
      c.cancel = asked.stop.get();
      if (request.on_device)
        c.on_device = [](const enginehost_device_event* event, void* data) noexcept {
          static_cast<const Asked*>(data)->request.on_device(*event);
        };
      if (request.on_log)
        c.on_log = [](const enginehost_log* message, void* data) noexcept {
          static_cast<const Asked*>(data)->request.on_log(*message);
        };
      c.log_level = request.log_level;
    }
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;
    enginehost_request c{};
    std::vector<const char*> repositories, licenses, installations;
  };

  using Watcher = std::function<void(const enginehost_device_event&)>;
  std::shared_ptr<Asked> request_;
  std::shared_ptr<const Watcher> watcher_;
  detail::Handle<enginehost_engine> engine_;  // destroyed first, so that no callback is called afterwards
};

}  // namespace enginehost::sdk
