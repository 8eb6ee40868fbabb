#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/csrc/jit/frontend/script_type_parser.h>
#include <torch/jit.h>

#include "engines/pytorch/instance.hpp"

namespace enginehost::engines::pytorch {
namespace {

// A TorchScript function, so that the compiler and the interpreter run too. Its result was computed by hand:
// [[1,2],[3,4]] squared is [[7,10],[15,22]]; minus 10, negative values are cut to 0.
constexpr const char* program = R"(
def squared(a):
    return torch.relu(torch.matmul(a, a) - 10.0)
)";

void check_graph(c10::Device device) {
  std::shared_ptr<torch::jit::CompilationUnit> unit = torch::jit::compile(program);
  float numbers[4] = {1, 2, 3, 4};
  at::Tensor matrix = at::from_blob(numbers, {2, 2}, at::kFloat).to(device);
  at::Tensor answer = unit->run_method("squared", matrix).toTensor().to(at::kCPU).contiguous();
  constexpr float expected[4] = {0, 0, 5, 12};
  bool right = answer.scalar_type() == at::kFloat && answer.numel() == 4 &&
               std::memcmp(answer.data_ptr(), expected, sizeof expected) == 0;
  if (!right)
    throw Failure{ENGINE_INTERNAL, "The built-in graph gave a wrong answer on " + device.str() + "."};
}

engine_status run_selftest(engine_instance* engine, int32_t level, engine_device device,
                           engine_call* call) noexcept {
  return catch_all(call, ENGINE_UNAVAILABLE, [&] {
    c10::Device where = to_torch(device, engine->devices, call);
    if (call->is_cancelled(call) != 0)
      throw Failure{ENGINE_CANCELLED, "The self-test was stopped before it began."};
    c10::InferenceMode guard;
    // Level 0: the loader resolved every symbol of this file when it was opened.
    if (level >= ENGINE_SELFTEST_DEVICE) {
      at::Tensor filled = at::full({1024}, 3, at::TensorOptions().dtype(at::kFloat).device(where));
      if (at::sum(filled).item<float>() != 3072.0f)
        throw Failure{ENGINE_INTERNAL, "A sum on " + where.str() + " was wrong."};
    }
    if (level >= ENGINE_SELFTEST_GRAPH) check_graph(where);
  });
}

}  // namespace

const engine_selftest_v1 selftest_table = {run_selftest};

}  // namespace enginehost::engines::pytorch
