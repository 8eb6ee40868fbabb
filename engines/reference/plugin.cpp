// libengine_reference: the engine that needs nothing but libc. Start reading at engine_plugin_v1, at the end.
#include <cstdlib>

#include "engines/reference/instance.hpp"
#include "engines/support/only_processor.hpp"
#include "engines/support/plugin.hpp"

#ifdef __x86_64__
#include <cpuid.h>
#endif

namespace enginehost::engines::reference {
namespace {

// Writes the processor's name, "" if no instruction provides it.
void name_processor(char (&out)[64]) {
  out[0] = '\0';
#ifdef __x86_64__
  if (static_cast<unsigned>(__get_cpuid_max(0x80000000u, nullptr)) < 0x80000004u) return;
  for (unsigned i = 0; i < 3; i++) {
    unsigned words[4] = {};
    // Not __get_cpuid, which queries the highest leaf each time: in a virtual machine every cpuid is a trap.
    __cpuid(0x80000002u + i, words[0], words[1], words[2], words[3]);
    std::memcpy(out + i * 16, words, 16);
  }
  out[48] = '\0';
  size_t length = std::strlen(out);
  while (length > 0 && out[length - 1] == ' ') out[--length] = '\0';
  size_t blank = std::strspn(out, " ");
  std::memmove(out, out + blank, length - blank + 1);
#endif
}

engine_status create(const engine_host* host, const engine_entry* options, size_t option_count,
                     engine_instance** out, engine_call* call) noexcept {
  *out = nullptr;
  if (const char* key = unknown_option(options, option_count, {"reference.kernels"})) {
    call->detail(call, "option", key);
    return refuse(call, ENGINE_INVALID, "reference",
                  Text{} << "The reference engine has no option \"" << key << "\".");
  }
  const char* wanted = find_entry(options, option_count, "reference.kernels");
  const Kernels* kernels = choose_kernels(wanted);
  if (kernels == nullptr) {
    call->detail(call, "option", "reference.kernels");
    return refuse(call, ENGINE_UNAVAILABLE, "reference",
                  Text{} << "There are no kernels \"" << wanted << "\" for this processor.");
  }
  auto* engine = static_cast<engine_instance*>(std::malloc(sizeof(engine_instance)));
  if (engine == nullptr) {
    return refuse(call, ENGINE_NO_MEMORY, "reference", Text{} << "There is no memory for an engine.");
  }
  *engine = {host, kernels, {}, {{"version", ENGINEHOST_PLUGIN_VERSION}, {"kernels", kernels->name}}};
  name_processor(engine->processor);
  *out = engine;
  return ENGINE_OK;
}

void destroy(engine_instance* engine) noexcept { std::free(engine); }

const engine_entry* facts(engine_instance* engine, size_t* count) noexcept {
  *count = sizeof engine->facts / sizeof *engine->facts;
  return engine->facts;
}

engine_status device_info(engine_instance* engine, uint32_t number, engine_device_info* out,
                          engine_call* call) noexcept {
  engine_device_info info = {};
  info.name = engine->processor;
  info.architecture = engine->kernels->name;
  info.driver = "";
  ask_memory(info.memory_total, info.memory_free);
  return report_processor("reference", number, info, out, call);
}

engine_status create_tensor(engine_instance*, const engine_tensor* like, engine_owned_tensor** out,
                            engine_call* call) noexcept {
  return create_host_tensor("reference", like, out, call);
}
engine_status copy_tensor(engine_instance*, const engine_tensor* from, const engine_tensor* to,
                          engine_call* call) noexcept {
  return copy_host_tensor("reference", from, to, call);
}

constexpr engine_device_v1 device_table = {one_device, device_info};
constexpr engine_tensor_v1 tensor_table = {create_tensor, copy_tensor};

constexpr Tables tables = {&device_table, &selftest_table, &tensor_table, &operation_table, &model_table};

constexpr const char* capabilities[] = {"device.cpu", "format.reference", nullptr};

constexpr engine_plugin descriptor = describe_plugin("reference", ENGINE_PLUGIN_UNLOADABLE, capabilities,
                                                     create, destroy, facts, query<tables>);

}  // namespace
}  // namespace enginehost::engines::reference

using namespace enginehost::engines::reference;
extern "C" constexpr engine_plugin engine_plugin_v1 = descriptor;
