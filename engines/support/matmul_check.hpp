// Self-test of level 2 with one operation, MatMul. The expected result was computed by hand: [[1,2],[3,4]]
// squared is [[7,10],[15,22]].
#pragma once
#include "engines/support/failure.hpp"
#include "engines/support/tensor.hpp"

namespace enginehost::engines {

inline constexpr int64_t matrix_shape[2] = {2, 2};

// Holds the result of one operation or graph and releases it at the end.
struct HeldResult : engine_results {
  HeldResult() : engine_results{} {
    size = sizeof(engine_results);
    place = [](engine_results*, uint32_t, const char*,
               const engine_tensor*) noexcept -> const engine_tensor* { return nullptr; };
    give = [](engine_results* self, uint32_t, const char*, engine_owned_tensor* given) noexcept {
      static_cast<HeldResult*>(self)->tensor = given;
    };
  }
  ~HeldResult() {
    if (tensor != nullptr) tensor->release(tensor);
  }
  HeldResult(const HeldResult&) = delete;
  HeldResult& operator=(const HeldResult&) = delete;
  engine_owned_tensor* tensor = nullptr;
};

// A matrix over `numbers` (not copied), in host memory.
inline engine_tensor matrix_over(float (&numbers)[4]) {
  return {numbers, {ENGINE_CPU, 0}, 2, {ENGINE_FLOAT, 32, 1}, matrix_shape, nullptr, 0};
}

// Throws a Failure unless the result is [[7,10],[15,22]] in host memory.
inline void check_square(const HeldResult& held) {
  constexpr float expected[4] = {7, 10, 15, 22};
  const bool right = held.tensor != nullptr && is_float32(held.tensor->tensor.dtype) &&
                     held.tensor->tensor.ndim == 2 &&
                     std::memcmp(data_of<void>(held.tensor->tensor), expected, sizeof expected) == 0;
  if (!right) throw Failure{ENGINE_INTERNAL, "The built-in graph gave a wrong answer."};
}

// Computes the square with the engine's own table of operations.
inline void check_matmul(engine_instance* engine, const engine_op_v1& operations, engine_call* call) {
  float numbers[4] = {1, 2, 3, 4};
  const engine_tensor matrix = matrix_over(numbers);
  const engine_tensor* const inputs[2] = {&matrix, &matrix};
  HeldResult held;
  if (const engine_status status = operations.run(engine, "MatMul", inputs, 2, nullptr, 0, &held, call))
    throw Failure{status, "The built-in graph cannot be run."};
  check_square(held);
}

}  // namespace enginehost::engines
