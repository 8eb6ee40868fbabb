// The smallest host that can use a plugin, for these tests. It also checks the plugin's duties to its host
// (one way per result, alignment of given data).
#pragma once
#include <enginehost/engine_plugin.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "engines/support/system.hpp"
#ifdef _WIN32
#include "tests/engines/windows/loader.hpp"
#else
#include "tests/engines/posix/loader.hpp"
#endif
#include "tests/support/paths.hpp"

namespace enginehost::engines::tests {

struct Call : engine_call {
  struct Report {
    engine_status status;
    std::string origin;
    int64_t native;
    std::string message;
  };
  std::atomic<bool> canceled{false};
  std::atomic<int> cancel_after{-1};  // cancels at this progress() call
  std::atomic<int> progress_calls{0}, cancel_looks{0};
  std::mutex mutex;
  std::vector<Report> reports;
  std::map<std::string, std::string> details;
  uint64_t last_done = 0, last_total = 0;

  Call() : engine_call{} {
    size = sizeof(engine_call);
    is_cancelled = [](const engine_call* call) noexcept -> int32_t {
      auto* self = const_cast<Call*>(static_cast<const Call*>(call));
      self->cancel_looks++;
      return self->canceled ? 1 : 0;
    };
    engine_call::progress = [](engine_call* call, uint64_t done, uint64_t total, const char*) noexcept {
      auto* self = static_cast<Call*>(call);
      self->last_done = done;
      self->last_total = total;
      if (self->progress_calls++ == self->cancel_after) self->canceled = true;
    };
    fail = [](engine_call* call, engine_status status, const char* origin, int64_t native,
              const char* message) noexcept {
      auto* self = static_cast<Call*>(call);
      std::lock_guard lock(self->mutex);
      self->reports.push_back({status, origin, native, message});
      return status;
    };
    detail = [](engine_call* call, const char* key, const char* value) noexcept {
      auto* self = static_cast<Call*>(call);
      std::lock_guard lock(self->mutex);
      self->details.emplace(key, value);
    };
  }
  std::string message() const { return reports.empty() ? "" : reports.front().message; }
};

// Receives results. With `offer` it places those of known shape in its own memory.
struct Results : engine_results {
  struct Value {
    uint32_t output;
    std::string name;
    engine_tensor tensor;
    std::vector<int64_t> shape;
    std::shared_ptr<void> memory;
    bool placed;
    template <class T>
    std::vector<T> as() const {
      size_t count = 1;
      for (int64_t size : shape) count *= static_cast<size_t>(size);
      auto* data = static_cast<const T*>(
          static_cast<const void*>(static_cast<const char*>(tensor.data) + tensor.byte_offset));
      return std::vector<T>(data, data + count);
    }
  };
  bool offer = false;
  size_t misalign = 0;  // memory of place() begins this many bytes after a multiple of 64
  std::vector<std::unique_ptr<Value>> values;

  Results() : engine_results{} {
    size = sizeof(engine_results);
    place = [](engine_results* results, uint32_t output, const char* name,
               const engine_tensor* like) noexcept -> const engine_tensor* {
      auto* self = static_cast<Results*>(results);
      if (!self->offer) return nullptr;
      auto value = std::make_unique<Value>();
      value->output = output;
      value->name = name == nullptr ? "" : name;
      value->shape.assign(like->shape, like->shape + like->ndim);
      size_t bytes = like->dtype.bits / 8;
      for (int64_t size_here : value->shape) bytes *= static_cast<size_t>(size_here);
      auto* block = static_cast<char*>(allocate_aligned((bytes + self->misalign + 127) / 64 * 64));
      value->memory = std::shared_ptr<void>(block, free_aligned);
      value->tensor = *like;
      value->tensor.data = block + self->misalign;
      value->tensor.shape = value->shape.data();
      value->placed = true;
      self->values.push_back(std::move(value));
      return &self->values.back()->tensor;
    };
    give = [](engine_results* results, uint32_t output, const char* name,
              engine_owned_tensor* tensor) noexcept {
      auto* self = static_cast<Results*>(results);
      auto value = std::make_unique<Value>();
      value->output = output;
      value->name = name == nullptr ? "" : name;
      value->tensor = tensor->tensor;
      value->shape.assign(tensor->tensor.shape, tensor->tensor.shape + tensor->tensor.ndim);
      value->memory = std::shared_ptr<void>(tensor, [](void* held) {
        auto* owned = static_cast<engine_owned_tensor*>(held);
        owned->release(owned);
      });
      value->placed = false;
      self->values.push_back(std::move(value));
    };
  }
  const Value& of(uint32_t output) const {
    for (const auto& value : values) {
      if (value->output == output) return *value;
    }
    ADD_FAILURE() << "there is no output " << output;
    static const Value none{};
    return none;
  }
};

inline constexpr engine_device cpu = {ENGINE_CPU, 0};

// A tensor with data of its own.
template <class T>
struct Owned {
  std::vector<int64_t> shape;
  std::vector<T> data;
  engine_dtype type;
  engine_tensor tensor{};

  Owned(engine_dtype dtype, std::vector<int64_t> sizes, std::vector<T> values)
      : shape(std::move(sizes)), data(std::move(values)), type(dtype) {
    tensor = {data.data(), cpu, static_cast<int32_t>(shape.size()), dtype, shape.data(), nullptr, 0};
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
};
struct Floats : Owned<float> {
  Floats(std::vector<int64_t> sizes, std::vector<float> values)
      : Owned({ENGINE_FLOAT, 32, 1}, std::move(sizes), std::move(values)) {}
};

// A plugin file, open.
class Library {
 public:
  explicit Library(const std::string& path) : handle_(open_library(path)) {
    if (handle_ == nullptr) {
      ADD_FAILURE() << why_not_opened();
      return;
    }
    plugin_ = static_cast<const engine_plugin*>(symbol_of(handle_, ENGINE_PLUGIN_SYMBOL));
  }
  ~Library() {
    if (handle_ != nullptr && plugin_ != nullptr && (plugin_->flags & ENGINE_PLUGIN_UNLOADABLE) != 0)
      close_library(handle_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  const engine_plugin* operator->() const { return plugin_; }
  const engine_plugin* get() const { return plugin_; }

 private:
  void* handle_;
  const engine_plugin* plugin_ = nullptr;
};

// An engine created by a plugin, with its tables.
class Engine {
 public:
  Engine(const Library& library, std::string root, std::vector<engine_entry> options = {})
      : root_(std::move(root)), library_(library) {
    host_.size = sizeof host_;
    host_.abi_major = ENGINE_ABI_MAJOR;
    host_.abi_minor = ENGINE_ABI_MINOR;
    host_.name = "tests/engines";
    host_.version = "1";
    host_.root = root_.c_str();
    host_.host_data = this;
    host_.log_level = ENGINE_LOG_WARNING;
    host_.log = [](const engine_host* host, int32_t, const char* topic, const char* message) noexcept {
      auto* self = static_cast<Engine*>(host->host_data);
      std::lock_guard lock(self->mutex_);
      self->logged_.push_back(std::string(topic) + ": " + message);
    };
    host_.query = [](const engine_host*, const char*) noexcept -> const void* { return nullptr; };
    status = library_->create(&host_, options.data(), options.size(), &engine_, &call);
    if (engine_ == nullptr) return;
    devices = table<engine_device_v1>(ENGINE_DEVICE_V1);
    selftest = table<engine_selftest_v1>(ENGINE_SELFTEST_V1);
    tensors = table<engine_tensor_v1>(ENGINE_TENSOR_V1);
    operations = table<engine_op_v1>(ENGINE_OP_V1);
    models = table<engine_model_v1>(ENGINE_MODEL_V1);
  }
  ~Engine() {
    if (engine_ != nullptr) library_->destroy(engine_);
  }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  engine_instance* get() const { return engine_; }
  std::string fact(const std::string& key) const {
    size_t count = 0;
    const engine_entry* entries = library_->facts(engine_, &count);
    for (size_t i = 0; i < count; i++) {
      if (key == entries[i].key) return entries[i].value;
    }
    return "";
  }
  engine_status run(const char* name, std::vector<const engine_tensor*> inputs, Results& results,
                    Call& in_call, std::vector<engine_entry> attributes = {}) const {
    return operations->run(engine_, name, inputs.data(), inputs.size(), attributes.data(), attributes.size(),
                           &results, &in_call);
  }

  engine_status status = ENGINE_OK;
  Call call;  // of create()
  const engine_device_v1* devices = nullptr;
  const engine_selftest_v1* selftest = nullptr;
  const engine_tensor_v1* tensors = nullptr;
  const engine_op_v1* operations = nullptr;
  const engine_model_v1* models = nullptr;

 private:
  template <class Table>
  const Table* table(const char* id) const {
    return static_cast<const Table*>(library_->query(engine_, id));
  }

  std::string root_;
  const Library& library_;
  engine_host host_{};
  engine_instance* engine_ = nullptr;
  std::mutex mutex_;
  std::vector<std::string> logged_;
};

// A loaded model; released before its engine.
class Model {
 public:
  // `source` is a path, or the model itself when `in_memory`.
  Model(const Engine& engine, const char* format, const std::string& source, bool in_memory,
        std::vector<engine_entry> options = {}, engine_device device = cpu)
      : engine_(engine) {
    engine_model_desc desc{};
    desc.size = sizeof desc;
    desc.format = format;
    desc.path = in_memory ? nullptr : source.c_str();
    desc.data = in_memory ? source.data() : nullptr;
    desc.data_size = in_memory ? source.size() : 0;
    desc.device = device;
    desc.options = options.data();
    desc.option_count = options.size();
    status = engine.models->load(engine.get(), &desc, &model_, &call);
  }
  ~Model() {
    if (model_ != nullptr) engine_.models->unload(model_);
  }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const engine_model_info& info() const { return *engine_.models->info(model_); }
  const engine_function& function() const { return info().functions[0]; }
  engine_model* get() const { return model_; }
  engine_status run(std::vector<std::pair<uint32_t, const engine_tensor*>> inputs, Results& results,
                    Call& in_call, std::vector<engine_entry> options = {}) const {
    std::vector<engine_value> values;
    for (const auto& [number, tensor] : inputs) values.push_back({number, 0, nullptr, tensor});
    engine_run what{};
    what.size = sizeof what;
    what.inputs = values.data();
    what.input_count = values.size();
    what.options = options.data();
    what.option_count = options.size();
    return engine_.models->run(model_, &what, &results, &in_call);
  }

  engine_status status = ENGINE_OK;
  Call call;  // of load()

 private:
  const Engine& engine_;
  engine_model* model_ = nullptr;
};

// An option of a run with an engine's prefix must be known to that engine; other options are ignored where
// they are unknown.
inline void expect_options_of_runs_looked_at(const Model& model, const engine_tensor& input) {
  Results results, none;
  Call common, unknown;
  EXPECT_EQ(model.run({{0, &input}}, results, common, {{"deterministic", "1"}}), ENGINE_OK)
      << common.message();
  EXPECT_EQ(model.run({{0, &input}}, none, unknown, {{"somebody.else", "1"}}), ENGINE_INVALID);
  EXPECT_EQ(unknown.details["option"], "somebody.else");
  EXPECT_TRUE(none.values.empty());
}

inline std::string plugin_path(const std::string& engine) {
  return test::build_path("/engines/") + plugin_file(engine);
}

}  // namespace enginehost::engines::tests
