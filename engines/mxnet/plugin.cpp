// libengine_mxnet: MXNet behind the plugin tables, through its C predict API. Start reading at
// engine_plugin_v1, at the end. The library comes with the build; this file is not linked to it.
#include <cstring>

#include "engines/mxnet/devices.hpp"
#include "engines/mxnet/instance.hpp"
#include "engines/support/options.hpp"
#include "engines/support/plugin.hpp"

namespace enginehost::engines::mxnet {
namespace {

// "threads": MXNet has one number for the whole process, so the last engine that sets it decides. 0 is
// MXNet's default.
void set_threads(const Runtime& runtime, const char* text, engine_call* call) {
  const int count = read_threads<Failure>(text, "MXNet", call);
  if (count > 0) runtime.check(runtime->MXSetNumOMPThreads(count), ENGINE_INVALID);
}

engine_status create(const engine_host* host, const engine_entry* options, size_t option_count,
                     engine_instance** out, engine_call* call) noexcept {
  *out = nullptr;
  return catch_all(call, [&] {
    allow_options<Failure>("The engine mxnet has", options, option_count, {"mxnet.library"}, call);
    auto engine = std::make_unique<engine_instance>();
    engine->host = host;
    engine->runtime = Runtime::open(host, find_entry(options, option_count, "mxnet.library"), call);
    engine->devices = list_devices(*engine->runtime);
    if (const char* threads = find_entry(options, option_count, "threads"))
      set_threads(*engine->runtime, threads, call);
    engine->facts = {{"version", engine->runtime->version().c_str()},
                     {"library", engine->runtime->path().c_str()}};
    *out = engine.release();
  });
}

engine_status create_tensor(engine_instance*, const engine_tensor* like, engine_owned_tensor** out,
                            engine_call* call) noexcept {
  return create_host_tensor("", like, out, call);
}
engine_status copy_tensor(engine_instance*, const engine_tensor* from, const engine_tensor* to,
                          engine_call* call) noexcept {
  return copy_host_tensor("", from, to, call);
}

constexpr engine_tensor_v1 tensor_table = {create_tensor, copy_tensor};

constexpr Tables tables = {&device_table, &selftest_table, &tensor_table, &operation_table, &model_table};

constexpr const char* capabilities[] = {"device.cpu", "format.mxnet", "versions.>=1.7,<2", nullptr};

// Not UNLOADABLE: MXNet's thread pools still exist after the last engine is destroyed.
constexpr engine_plugin descriptor =
    describe_plugin("mxnet", 0, capabilities, create, destroy_instance<engine_instance>,
                    facts_in<engine_instance>, query<tables>);

}  // namespace
}  // namespace enginehost::engines::mxnet

using namespace enginehost::engines::mxnet;
extern "C" constexpr engine_plugin engine_plugin_v1 = descriptor;
