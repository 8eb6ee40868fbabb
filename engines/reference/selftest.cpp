// engine.selftest/1.
#include "engines/reference/model.hpp"
#include "engines/support/only_processor.hpp"

namespace enginehost::engines::reference {
namespace {

// Runs every operation once; the expected result was computed by hand.
//   conv: the 3x3 image 1..9 under [[1,0],[0,-1]]: each patch gives a - d = -4; plus the bias 5: 1 everywhere
//   product: [[1,1],[1,1]] x [[1,2],[3,4]] = [[4,6],[4,6]]
//   scaled by [0.5,-1]: [[2,-6],[2,-6]]; plus 1: [[3,-5],[3,-5]]; Relu: [[3,0],[3,0]]
//   softmax over rows: e^3/(e^3+1) = 0.95257413, 1/(e^3+1) = 0.04742587
constexpr char graph[] =
    "enginehost-reference 1\n"
    "input image [1,1,3,3]\n"
    "constant window [1,1,2,2] (1 0 0 -1)\n"
    "constant bias [1] (5)\n"
    "constant weights [2,2] (1 2 3 4)\n"
    "constant scale [2] (0.5 -1)\n"
    "constant one [] (1)\n"
    "conv = Conv(image, window, bias, kernel_shape=[2,2])\n"
    "product = MatMul(conv, weights)\n"
    "scaled = Mul(product, scale)\n"
    "shifted = Add(scaled, one)\n"
    "positive = Relu(shifted)\n"
    "answer = Softmax(positive, axis=-1)\n"
    "output answer [1,1,2,2]\n";

struct CapturedResults : engine_results {
  engine_owned_tensor* tensor;
};

engine_status check_memory(engine_call* call) {
  constexpr int64_t size = int64_t{1} << 20;
  engine_owned_tensor* memory = make_host_tensor({ENGINE_UINT, 8, 1}, 1, &size);
  if (memory == nullptr) {
    return refuse(call, ENGINE_NO_MEMORY, "reference", Text{} << "Not even a mebibyte of memory is left.");
  }
  auto* bytes = data_of<unsigned char>(memory->tensor);
  std::memset(bytes, 0x5a, size);
  bool kept = bytes[0] == 0x5a && std::memcmp(bytes, bytes + 1, size - 1) == 0;
  memory->release(memory);
  if (kept) return ENGINE_OK;
  return refuse(call, ENGINE_INTERNAL, "reference", Text{} << "Memory does not hold what was written to it.");
}

engine_status check_graph(engine_instance* engine, engine_device device, engine_call* call) {
  engine_model_desc desc = {};
  desc.size = sizeof desc;
  desc.format = "reference";
  desc.data = graph;
  desc.data_size = sizeof graph - 1;
  desc.device = device;
  engine_model* model = nullptr;
  if (engine_status status = load_model(engine, &desc, &model, call)) return status;

  float image[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const int64_t shape[4] = {1, 1, 3, 3};
  engine_tensor tensor = {image, device, 4, {ENGINE_FLOAT, 32, 1}, shape, nullptr, 0};
  engine_value value = {0, 0, nullptr, &tensor};
  engine_run run = {};
  run.size = sizeof run;
  run.inputs = &value;
  run.input_count = 1;
  CapturedResults kept = {};
  kept.size = sizeof(engine_results);
  kept.place = [](engine_results*, uint32_t, const char*,
                  const engine_tensor*) noexcept -> const engine_tensor* { return nullptr; };
  kept.give = [](engine_results* self, uint32_t, const char*, engine_owned_tensor* given) noexcept {
    static_cast<CapturedResults*>(self)->tensor = given;
  };
  engine_status status = run_model(model, &run, &kept, call);
  unload_model(model);
  if (status != ENGINE_OK) return status;
  constexpr float expected[4] = {0.95257413f, 0.04742587f, 0.95257413f, 0.04742587f};
  const float* answer = data_of<const float>(kept.tensor->tensor);
  bool right = true;
  for (int i = 0; i < 4; i++) {
    float difference = answer[i] - expected[i];
    right = right && difference < 1e-6f && difference > -1e-6f;  // false for NaN
  }
  kept.tensor->release(kept.tensor);
  if (right) return ENGINE_OK;
  call->detail(call, "found", engine->kernels->name);
  return refuse(call, ENGINE_INTERNAL, "reference",
                Text{} << "The built-in graph gave a wrong answer with the kernels \""
                       << engine->kernels->name << "\".");
}

engine_status run_selftest(engine_instance* engine, int32_t level, engine_device device,
                           engine_call* call) noexcept {
  if (const engine_status refused = may_test("reference", device, call)) return refused;
  // Level 0 checks libraries: there are none but libc, and create() has found kernels for this processor.
  if (level >= ENGINE_SELFTEST_DEVICE) {
    if (engine_status status = check_memory(call)) return status;
  }
  return level >= ENGINE_SELFTEST_GRAPH ? check_graph(engine, device, call) : ENGINE_OK;
}

}  // namespace

extern const engine_selftest_v1 selftest_table = {run_selftest};

}  // namespace enginehost::engines::reference
