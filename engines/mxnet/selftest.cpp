#include "engines/mxnet/instance.hpp"
#include "engines/support/matmul_check.hpp"

namespace enginehost::engines::mxnet {
namespace {

engine_status run_selftest(engine_instance* engine, int32_t level, engine_device device,
                           engine_call* call) noexcept {
  return catch_all(call, [&] {
    require_testable(engine->devices, device, call);
    // Level 0: create() has resolved every symbol of the library (RTLD_NOW) and found its functions. MXNet
    // has no call that only allocates, so level 1 runs the graph too.
    if (level < ENGINE_SELFTEST_DEVICE) return;
    engine_instance on_device;
    on_device.host = engine->host;
    on_device.runtime = engine->runtime;
    on_device.operations_on = device;
    check_matmul(&on_device, operation_table, call);
  });
}

}  // namespace

extern const engine_selftest_v1 selftest_table = {run_selftest};

}  // namespace enginehost::engines::mxnet
