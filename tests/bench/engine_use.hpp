// The reference engine in this process, through its plugin and linked in, with reused tensors.
#pragma once
#include <enginehost/engine_plugin.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "engines/reference/instance.hpp"
#include "host/load/in_process/engine.hpp"
#include "tests/bench/workplace.hpp"

namespace enginehost::bench {

// Floats in host memory, written once so that their pages exist.
class Floats {
 public:
  explicit Floats(std::vector<std::int64_t> shape, float value = 0.5F) : shape_(std::move(shape)) {
    for (const std::int64_t size : shape_) count_ *= static_cast<std::size_t>(size);
    data_.reset(static_cast<float*>(std::aligned_alloc(64, (count_ * sizeof(float) + 63) / 64 * 64)));
    for (std::size_t i = 0; i < count_; ++i) data_.get()[i] = value * static_cast<float>(i % 13);
    tensor_.data = data_.get();
    tensor_.device = {ENGINE_CPU, 0};
    tensor_.ndim = static_cast<std::int32_t>(shape_.size());
    tensor_.dtype = {ENGINE_FLOAT, 32, 1};
    tensor_.shape = shape_.data();
  }
  Floats(const Floats&) = delete;
  Floats& operator=(const Floats&) = delete;

  float* data() const { return data_.get(); }
  std::size_t count() const { return count_; }
  const engine_tensor& tensor() const { return tensor_; }

 private:
  struct Free {
    void operator()(float* memory) const { std::free(memory); }
  };
  std::vector<std::int64_t> shape_;
  std::size_t count_ = 1;
  std::unique_ptr<float, Free> data_;
  engine_tensor tensor_{};
};

// Results go into existing memory.
struct ReusedResult : engine_results {
  explicit ReusedResult(const engine_tensor& where) : engine_results{}, tensor(where) {
    size = sizeof(engine_results);
    place = [](engine_results* results, std::uint32_t, const char*,
               const engine_tensor*) noexcept -> const engine_tensor* {
      return &static_cast<ReusedResult*>(results)->tensor;
    };
    give = [](engine_results*, std::uint32_t, const char*, engine_owned_tensor* given) noexcept {
      given->release(given);
    };
  }
  engine_tensor tensor;
};

// The smallest valid call: no progress report, no cancellation.
struct BareCall : engine_call {
  BareCall() : engine_call{} {
    size = sizeof(engine_call);
    is_cancelled = [](const engine_call*) noexcept -> std::int32_t { return 0; };
    progress = [](engine_call*, std::uint64_t, std::uint64_t, const char*) noexcept {};
    fail = [](engine_call*, engine_status status, const char*, std::int64_t, const char*) noexcept {
      return status;
    };
    detail = [](engine_call*, const char*, const char*) noexcept {};
  }
};

// The engine as it is linked into this program: no plugin, no host.
struct LinkedEngine {
  LinkedEngine() : instance{} { instance.kernels = engines::reference::choose_kernels(nullptr); }
  engine_instance instance;
};

inline std::unique_ptr<load::Engine> load_reference_engine() {
  load::LoadRequest request;
  request.plugin = built("engines/libengine_reference.so");
  auto plugin = load::load_plugin(request);
  if (!plugin) return nullptr;
  auto engine = load::Engine::create(std::shared_ptr<load::LoadedPlugin>(std::move(*plugin)));
  return engine ? std::move(*engine) : nullptr;
}

// Calls as a host does: with a deadline, cancellation and reports for each call, and its outcome as a Result.
inline bool run_operation(load::Engine& engine, const char* name, const engine_tensor* const* inputs,
                          std::size_t count, engine_results& results) {
  load::Call call;
  return call
      .finish(
          engine.op_table()->run(engine.instance(), name, inputs, count, nullptr, 0, &results, call.get()))
      .has_value();
}

}  // namespace enginehost::bench
