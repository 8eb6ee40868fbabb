#include "engines/support/matmul_check.hpp"
#include "engines/support/only_processor.hpp"
#include "engines/tensorflow/instance.hpp"
#include "engines/tensorflow/tensors.hpp"

namespace enginehost::engines::tensorflow {
namespace {

engine_status run_selftest(engine_instance* engine, int32_t level, engine_device device,
                           engine_call* call) noexcept {
  if (const engine_status refused = may_test("", device, call)) return refused;
  return catch_all(call, [&] {
    // Level 0: create() has resolved every symbol of the library (RTLD_NOW), found its functions and opened a
    // session.
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
