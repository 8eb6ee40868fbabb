#include "engines/mxnet/instance.hpp"
#include "engines/support/matmul_check.hpp"
#include "engines/support/only_processor.hpp"

namespace enginehost::engines::mxnet {
namespace {

engine_status run_selftest(engine_instance* engine, int32_t level, engine_device device,
                           engine_call* call) noexcept {
  if (const engine_status refused = may_test("", device, call)) return refused;
  return catch_all(call, [&] {
    // Level 0: create() has resolved every symbol of the library (RTLD_NOW) and found its functions. MXNet
    // has no call that only allocates, so level 1 runs the graph too.
    if (level >= ENGINE_SELFTEST_DEVICE) check_matmul(engine, operation_table, call);
  });
}

}  // namespace

extern const engine_selftest_v1 selftest_table = {run_selftest};

}  // namespace enginehost::engines::mxnet
