// libengine_onnxruntime: ONNX Runtime behind the plugin tables, through its C API. Start reading at
// engine_plugin_v1, at the end. Works with any release from 1.17 on. The library comes with the build; this
// file is not linked to it.
#include "engines/support/plugin.hpp"
#include "engines/onnxruntime/instance.hpp"
#include "engines/onnxruntime/model.hpp"
#include "engines/onnxruntime/provider.hpp"

namespace enginehost::engines::onnxruntime {
namespace {

engine_status create(const engine_host* host, const engine_entry* options, size_t option_count,
                     engine_instance** out, engine_call* call) noexcept {
  *out = nullptr;
  return catch_all(call, [&] {
    if (const char* key =
            unknown_option(options, option_count,
                           {"onnxruntime.library", "onnxruntime.provider", "onnxruntime.provider_library"})) {
      call->detail(call, "option", key);
      throw Failure{ENGINE_INVALID, std::string("The engine onnxruntime has no option \"") + key +
                                        "\"; settings of a session are options of its model."};
    }
    std::shared_ptr<Runtime> runtime =
        Runtime::open(host, find_entry(options, option_count, "onnxruntime.library"), call);
    auto engine = std::make_unique<engine_instance>(host, std::move(runtime));
    add_provider(*engine, find_entry(options, option_count, "onnxruntime.provider"),
                 find_entry(options, option_count, "onnxruntime.provider_library"), call);
    const char* threads = find_entry(options, option_count, "threads");
    if (threads != nullptr) engine->threads = threads;
    engine->facts = {{"version", engine->runtime->version()}, {"library", engine->runtime->path().c_str()}};
    *out = engine.release();
  });
}

// Returns the tensor as one in host memory, where a provider's tensors are too.
engine_tensor in_memory(const engine_instance& engine, engine_tensor tensor) {
  if (is_reached(engine, tensor.device)) tensor.device = {ENGINE_CPU, 0};
  return tensor;
}

engine_status create_tensor(engine_instance* engine, const engine_tensor* like, engine_owned_tensor** out,
                            engine_call* call) noexcept {
  const engine_tensor wanted = in_memory(*engine, *like);
  const engine_status status = create_host_tensor("", &wanted, out, call);
  if (status == ENGINE_OK) (*out)->tensor.device = like->device;
  return status;
}
engine_status copy_tensor(engine_instance* engine, const engine_tensor* from, const engine_tensor* to,
                          engine_call* call) noexcept {
  const engine_tensor source = in_memory(*engine, *from), target = in_memory(*engine, *to);
  return copy_host_tensor("", &source, &target, call);
}

constexpr engine_tensor_v1 tensor_table = {create_tensor, copy_tensor};

constexpr Tables tables = {&device_table, &selftest_table, &tensor_table, &operation_table, &model_table};

constexpr const char* capabilities[] = {"device.cpu", "format.onnx", "versions.>=1.17,<2", nullptr};

// Not UNLOADABLE: the runtime's thread pools still exist after the last engine is destroyed.
constexpr engine_plugin descriptor =
    describe_plugin("onnxruntime", 0, capabilities, create, destroy_instance<engine_instance>,
                    facts_in<engine_instance>, query<tables>);

}  // namespace
}  // namespace enginehost::engines::onnxruntime

using namespace enginehost::engines::onnxruntime;
extern "C" constexpr engine_plugin engine_plugin_v1 = descriptor;
