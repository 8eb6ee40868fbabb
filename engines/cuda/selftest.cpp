// engine.selftest/1.
#include <cmath>

#include "engines/cuda/operation.hpp"

namespace enginehost::engines::cuda {
namespace {

// cuDNN opens its sublibraries at first use. Each of them has a call that compares its version with that of
// the others.
void check_libraries() {
  constexpr auto unavailable = [](const std::string& what, size_t found, size_t wanted) {
    Failure failure{ENGINE_UNAVAILABLE, what + " " + std::to_string(found) +
                                            " was loaded, and this engine was compiled for " +
                                            std::to_string(wanted) + "."};
    failure.details = {{"found", std::to_string(found)}, {"required", std::to_string(wanted)}};
    return failure;
  };
  if (cudnnGetVersion() / 10000 != CUDNN_MAJOR) throw unavailable("cuDNN", cudnnGetVersion(), CUDNN_VERSION);
  if (cublasLtGetVersion() / 10000 != CUBLAS_VER_MAJOR)
    throw unavailable("cuBLAS", cublasLtGetVersion(), CUBLAS_VERSION);
  check(cudnnGraphVersionCheck(), "cudnnGraphVersionCheck", -1);
  check(cudnnOpsVersionCheck(), "cudnnOpsVersionCheck", -1);
  check(cudnnCnnVersionCheck(), "cudnnCnnVersionCheck", -1);
}

// A tensor in host memory for the operations below.
struct Input {
  std::vector<float> data;
  Shape shape;
  engine_tensor tensor() {
    return {data.data(),
            {ENGINE_CPU, 0},
            static_cast<int32_t>(shape.size()),
            {ENGINE_FLOAT, 32, 1},
            shape.data(),
            nullptr,
            0};
  }
};

struct CapturedResults : engine_results {
  engine_owned_tensor* tensor = nullptr;
};

Input run(engine_instance* engine, const char* name, std::vector<Input> inputs,
          std::vector<engine_entry> attributes, engine_call* call) {
  CapturedResults kept;
  static_cast<engine_results&>(kept) = {};
  kept.size = sizeof(engine_results);
  kept.place = [](engine_results*, uint32_t, const char*,
                  const engine_tensor*) noexcept -> const engine_tensor* { return nullptr; };
  kept.give = [](engine_results* self, uint32_t, const char*, engine_owned_tensor* given) noexcept {
    static_cast<CapturedResults*>(self)->tensor = given;
  };
  std::vector<engine_tensor> tensors;
  for (Input& input : inputs) tensors.push_back(input.tensor());
  std::vector<const engine_tensor*> pointers;
  for (const engine_tensor& tensor : tensors) pointers.push_back(&tensor);
  run_operation_on(engine, name, pointers.data(), pointers.size(), attributes.data(), attributes.size(),
                   &kept, call);
  const engine_tensor& given = kept.tensor->tensor;
  Input out;
  out.shape.assign(given.shape, given.shape + given.ndim);
  out.data.assign(data_of<const float>(given), data_of<const float>(given) + elements_of(out.shape));
  kept.tensor->release(kept.tensor);
  return out;
}

// Runs every operation once and thereby uses every library. The expected result was computed by hand and
// equals that of the reference engine's graph.
//   conv: the 3x3 image 1..9 under [[1,0],[0,-1]]: each patch gives a - d = -4; plus the bias 5: 1 everywhere
//   product: [[1,1],[1,1]] x [[1,2],[3,4]] = [[4,6],[4,6]]
//   scaled by [0.5,-1]: [[2,-6],[2,-6]]; plus 1: [[3,-5],[3,-5]]; Relu: [[3,0],[3,0]]
//   softmax over rows: e^3/(e^3+1) = 0.95257413, 1/(e^3+1) = 0.04742587
void check_graph(engine_instance* engine, int device, engine_call* call) {
  const Input image{{1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 1, 3, 3}};
  Input value = run(engine, "Conv", {image, {{1, 0, 0, -1}, {1, 1, 2, 2}}, {{5}, {1}}},
                    {{"kernel_shape", "2,2"}}, call);
  value = run(engine, "MatMul", {value, {{1, 2, 3, 4}, {2, 2}}}, {}, call);
  value = run(engine, "Mul", {value, {{0.5F, -1}, {2}}}, {}, call);
  value = run(engine, "Add", {value, {{1}, {}}}, {}, call);
  value = run(engine, "Relu", {value}, {}, call);
  value = run(engine, "Softmax", {value}, {{"axis", "-1"}}, call);
  bool right = value.shape == Shape{1, 1, 2, 2};
  for (size_t i = 0; i < value.data.size(); i++) {
    const float expected = i % 2 == 0 ? 0.95257413F : 0.04742587F;
    right = right && std::fabs(value.data[i] - expected) < 1e-5F;  // false for NaN
  }
  if (right) return;
  throw Failure{ENGINE_INTERNAL,
                "The built-in graph gave a wrong answer on cuda:" + std::to_string(device) + "."};
}

void check_device(engine_instance* engine, int device, engine_call* call) {
  const Input three{std::vector<float>(1024, 3), {1024}}, four{std::vector<float>(1024, 4), {1024}};
  for (float one : run(engine, "Add", {three, four}, {}, call).data) {
    if (one == 7) continue;
    throw Failure{ENGINE_INTERNAL, "A sum on cuda:" + std::to_string(device) + " was wrong."};
  }
}

engine_status run_selftest(engine_instance* engine, int32_t level, engine_device device,
                           engine_call* call) noexcept {
  const int before = engine->settings.device;
  const engine_status status = catch_all(call, [&] {
    check_libraries();
    engine->settings.device = index_of(device, engine->devices);
    if (call->is_cancelled(call) != 0)
      throw Failure{ENGINE_CANCELLED, "The self-test was stopped before it began."};
    if (level >= ENGINE_SELFTEST_DEVICE) check_device(engine, engine->settings.device, call);
    if (level >= ENGINE_SELFTEST_GRAPH) check_graph(engine, engine->settings.device, call);
  });
  engine->settings.device = before;
  return status;
}

}  // namespace

const engine_selftest_v1 selftest_table = {run_selftest};

}  // namespace enginehost::engines::cuda
