#include "engines/support/matmul_check.hpp"
#include "engines/tensorflow/instance.hpp"
#include "engines/tensorflow/tensors.hpp"

namespace enginehost::engines::tensorflow {
namespace {

engine_status run_selftest(engine_instance* engine, int32_t level, engine_device device,
                           engine_call* call) noexcept {
  return catch_all(call, [&] {
    require_testable(engine->devices, device, call);
    // Level 0: create() has resolved every symbol of the library (RTLD_NOW), found its functions and opened a
    // session. A session on a GPU loads CUDA's libraries, opens the device and allocates on it.
    if (device.type == ENGINE_CUDA) {
      engine_instance on_device;
      on_device.host = engine->host;
      on_device.runtime = engine->runtime;
      on_device.session = std::make_unique<Session>(engine->runtime, Place{device, engine->threads});
      if (level >= ENGINE_SELFTEST_GRAPH) check_matmul(&on_device, operation_table, call);
      return;
    }
    if (level >= ENGINE_SELFTEST_DEVICE) {
      const int64_t size = 1024;
      const HeldTensor tensor(engine->runtime,
                              (*engine->runtime)->TF_AllocateTensor(tf_float, &size, 1, 4096));
      if (tensor.get() == nullptr) throw Failure{ENGINE_NO_MEMORY, "TensorFlow cannot allocate 4 KiB."};
    }
    if (level >= ENGINE_SELFTEST_GRAPH) check_matmul(engine, operation_table, call);
  });
}

}  // namespace

extern const engine_selftest_v1 selftest_table = {run_selftest};

}  // namespace enginehost::engines::tensorflow
