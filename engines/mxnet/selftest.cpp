#include <memory>

#include "engines/mxnet/instance.hpp"

namespace enginehost::engines::mxnet {
namespace {

struct Kept : engine_results {
  Kept() : engine_results{} {
    size = sizeof(engine_results);
    place = [](engine_results*, uint32_t, const char*,
               const engine_tensor*) noexcept -> const engine_tensor* { return nullptr; };
    give = [](engine_results* self, uint32_t, const char*, engine_owned_tensor* given) noexcept {
      static_cast<Kept*>(self)->tensor = given;
    };
  }
  ~Kept() {
    if (tensor != nullptr) tensor->release(tensor);
  }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  engine_owned_tensor* tensor = nullptr;
};

// MatMul of two matrices with the answer worked out by hand: [[1,2],[3,4]] squared is [[7,10],[15,22]].
void check_graph(engine_instance* engine, engine_device device, engine_call* call) {
  float matrix[4] = {1, 2, 3, 4};
  const int64_t shape[2] = {2, 2};
  const engine_tensor tensor = {matrix, device, 2, {ENGINE_FLOAT, 32, 1}, shape, nullptr, 0};
  const engine_tensor* const inputs[2] = {&tensor, &tensor};
  Kept kept;
  if (engine_status status = operation_table.run(engine, "MatMul", inputs, 2, nullptr, 0, &kept, call))
    throw Failure{status, "The built-in graph cannot be run."};
  constexpr float expected[4] = {7, 10, 15, 22};
  const bool right = kept.tensor != nullptr && is_float32(kept.tensor->tensor.dtype) &&
                     kept.tensor->tensor.ndim == 2 &&
                     std::memcmp(data_of<void>(kept.tensor->tensor), expected, sizeof expected) == 0;
  if (!right) throw Failure{ENGINE_INTERNAL, "The built-in graph gave a wrong answer."};
}

engine_status run_selftest(engine_instance* engine, int32_t level, engine_device device,
                           engine_call* call) noexcept {
  return walled(call, [&] {
    if (device.type != ENGINE_CPU || device.index != 0) {
      Text text;
      call->detail(call, "device", text.device(device).c_str());
      throw Failure{ENGINE_INVALID, "This engine has only cpu:0."};
    }
    if (call->is_cancelled(call) != 0)
      throw Failure{ENGINE_CANCELLED, "The self-test was stopped before it began."};
    // Level 0: create() resolved every symbol of the library (RTLD_NOW) and found its functions. MXNet has no
    // call that only allocates, so level 1 runs the graph as well.
    if (level >= ENGINE_SELFTEST_DEVICE) check_graph(engine, device, call);
  });
}

}  // namespace

extern const engine_selftest_v1 selftest_table = {run_selftest};

}  // namespace enginehost::engines::mxnet
