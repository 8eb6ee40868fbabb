// libengine_tensorflow: TensorFlow behind the plugin tables, through its C API. Start reading at
// engine_plugin_v1, at the end. Works with any release from 2.4 on. The library comes with the build; this
// file is not linked to it.
#include <cstring>

#include "engines/support/options.hpp"
#include "engines/support/plugin.hpp"
#include "engines/tensorflow/devices.hpp"
#include "engines/tensorflow/instance.hpp"

namespace enginehost::engines::tensorflow {
namespace {

std::string checked_threads(const char* text, engine_call* call) {
  return text != nullptr ? std::to_string(read_threads<Failure>(text, "TensorFlow", call)) : "";
}

engine_status create(const engine_host* host, const engine_entry* options, size_t option_count,
                     engine_instance** out, engine_call* call) noexcept {
  *out = nullptr;
  return catch_all(call, [&] {
    allow_options<Failure>("The engine tensorflow has", options, option_count,
                           {"tensorflow.library", "tensorflow.python", "tensorflow.cuda"}, call);
    auto engine = std::make_unique<engine_instance>();
    engine->host = host;
    engine->threads = checked_threads(find_entry(options, option_count, "threads"), call);
    open_cuda_libraries(host->root, find_entry(options, option_count, "tensorflow.cuda"), call);
    engine->runtime = Runtime::open(host,
                                    {find_entry(options, option_count, "tensorflow.library"),
                                     find_entry(options, option_count, "tensorflow.python")},
                                    call);
    engine->session = std::make_unique<Session>(engine->runtime, Place{{ENGINE_CPU, 0}, engine->threads});
    engine->devices = list_devices(*engine->session);
    engine->facts = {{"version", (*engine->runtime)->TF_Version()},
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

constexpr const char* capabilities[] = {"device.cpu", "format.savedmodel", "versions.>=2.4,<3", nullptr};

// Not UNLOADABLE: TensorFlow's thread pools still exist after the last engine is destroyed.
constexpr engine_plugin descriptor =
    describe_plugin("tensorflow", 0, capabilities, create, destroy_instance<engine_instance>,
                    facts_in<engine_instance>, query<tables>);

}  // namespace
}  // namespace enginehost::engines::tensorflow

using namespace enginehost::engines::tensorflow;
extern "C" constexpr engine_plugin engine_plugin_v1 = descriptor;
