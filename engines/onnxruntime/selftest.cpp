#include "engines/onnxruntime/device_session.hpp"
#include "engines/onnxruntime/one_node_model.hpp"
#include "engines/onnxruntime/provider.hpp"
#include "engines/support/matmul_check.hpp"

namespace enginehost::engines::onnxruntime {
namespace {

// Computes the square as a graph of one node, so that a session is made and run on `device`.
void check_graph(engine_instance* engine, engine_device device, engine_call* call) {
  std::string bytes = one_node_model("MatMul", {1, 1}, nullptr, 0, {2, 2});
  engine_model_desc desc{};
  desc.size = sizeof desc;
  desc.format = "onnx";
  desc.data = bytes.data();
  desc.data_size = bytes.size();
  desc.device = device;
  engine_model* model = nullptr;
  if (engine_status status = load_model(engine, &desc, &model, call)) {
    throw Failure{status, "The built-in graph cannot be loaded."};
  }
  std::unique_ptr<engine_model, void (*)(engine_model*)> held_model(model, unload_model);
  float numbers[4] = {1, 2, 3, 4};
  const engine_tensor matrix = matrix_over(numbers);
  const engine_value values[2] = {{0, 0, nullptr, &matrix}, {1, 0, nullptr, &matrix}};
  engine_run run{};
  run.size = sizeof run;
  run.inputs = values;
  run.input_count = 2;
  HeldResult result;
  if (engine_status status = run_model(model, &run, &result, call)) {
    throw Failure{status, "The built-in graph cannot be run."};
  }
  check_square(result);
}

engine_status run_selftest(engine_instance* engine, int32_t level, engine_device device,
                           engine_call* call) noexcept {
  return catch_all(call, [&] {
    require_own_device(*engine, device, call);
    require_testable(engine->devices, device, call);
    // Level 0: create() has resolved every symbol of the library (RTLD_NOW) and obtained its table. The CUDA
    // provider is loaded at first use.
    if (device.type != ENGINE_CPU) {
      HeldSessionOptions options(*engine->runtime);
      engine->runtime->check(api::create_session_options(engine->runtime->table(), options.out()),
                             ENGINE_NO_MEMORY);
      compute_on(*engine, options.get(), device, call);
    }
    if (level >= ENGINE_SELFTEST_DEVICE) {
      const Runtime& runtime = *engine->runtime;
      const int64_t size = 1024;
      Held<OrtValue, decltype(api::release_value)> tensor(runtime);
      runtime.check(api::create_tensor(runtime.table(), runtime.allocator(), &size, 1, 1, tensor.out()),
                    ENGINE_NO_MEMORY);
    }
    if (level >= ENGINE_SELFTEST_GRAPH) check_graph(engine, device, call);
  });
}

}  // namespace

extern const engine_selftest_v1 selftest_table = {run_selftest};

}  // namespace enginehost::engines::onnxruntime
