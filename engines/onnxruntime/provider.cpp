#include "engines/onnxruntime/provider.hpp"

#include <algorithm>
#include <cstring>

#include "engines/onnxruntime/system.hpp"

namespace enginehost::engines::onnxruntime {
namespace {

// Providers inside of the runtime's library that this adapter knows.
struct BuiltIn {
  const char *kind, *provider;
  const char* appended_as;  // nullptr: the runtime lists the provider's devices
};
constexpr BuiltIn built_in[] = {{"dml", "DmlExecutionProvider", nullptr},
                                {"coreml", "CoreMLExecutionProvider", "CoreML"}};

const BuiltIn& built_in_provider(const std::string& kind, engine_call* call) {
  for (const BuiltIn& known : built_in)
    if (kind == known.kind) return known;
  call->detail(call, "option", "onnxruntime.provider");
  throw Failure{ENGINE_INVALID, "The option onnxruntime.provider is \"" + kind +
                                    "\", which is neither \"dml\" nor \"coreml\"; for another provider, set "
                                    "onnxruntime.provider_library too."};
}

// Returns "GPU (Intel)".
std::string describe(void* const* table, const OrtHardwareDevice* hardware) {
  constexpr const char* kinds[] = {"CPU", "GPU", "NPU"};
  const int kind = api::hardware_kind(table, hardware);
  const char* vendor = api::hardware_vendor(table, hardware);
  return (kind >= 0 && kind < 3 ? kinds[kind] : "device of type " + std::to_string(kind)) +
         (vendor == nullptr || *vendor == '\0' ? "" : std::string(" (") + vendor + ")");
}

// The provider gives no reason, so the hardware that the runtime found has to do.
std::string found_hardware(const Runtime& runtime) {
  if (runtime.api_version() < hardware_api) return "";
  size_t count = 0;
  runtime.check(api::hardware_count(runtime.table(), runtime.environment(), &count), ENGINE_INTERNAL);
  std::vector<const OrtHardwareDevice*> all(count);
  runtime.check(api::hardware_devices(runtime.table(), runtime.environment(), all.data(), count),
                ENGINE_INTERNAL);
  std::string text;
  for (const OrtHardwareDevice* one : all)
    text += (text.empty() ? "" : ", ") + describe(runtime.table(), one);
  return " ONNX Runtime found this hardware: " + text + ".";
}

// An accelerator goes first, because people who ask for the provider mean it.
int place_of(int hardware_kind) {
  return hardware_kind == ort_hardware_gpu ? 0 : hardware_kind == ort_hardware_npu ? 1 : 2;
}

}  // namespace

void add_provider(engine_instance& engine, const char* kind, const char* library, engine_call* call) {
  if (kind == nullptr) return;
  Runtime& runtime = *engine.runtime;
  void* const* table = runtime.table();
  Provider& provider = engine.provider;
  provider.kind = kind;
  const BuiltIn* known = library == nullptr ? &built_in_provider(kind, call) : nullptr;
  if (known != nullptr && known->appended_as != nullptr) {
    provider.name = known->provider;
    engine.devices.list.push_back({{ENGINE_OTHER_DEVICE, 0}, kind, known->provider, "", "", {}, 0});
    return;
  }
  if (runtime.api_version() < provider_api) {
    call->detail(call, "required", "1.23");
    call->detail(call, "found", runtime.version());
    throw Failure{ENGINE_UNSUPPORTED, std::string("ONNX Runtime ") + runtime.version() +
                                          " is older than 1.23, the oldest that lists the devices of " +
                                          kind + "."};
  }
  if (library != nullptr) {
    if (leaves_the_view(library)) {
      call->detail(call, "option", "onnxruntime.provider_library");
      throw Failure{ENGINE_INVALID, std::string("The option onnxruntime.provider_library names a path inside "
                                                "the installed build, and \"") +
                                        library + "\" is none."};
    }
    provider.devices = runtime.register_provider(kind, std::string(engine.host->root) + "/" + library, call);
  } else {
    for (const OrtEpDevice* device : runtime.provider_devices())
      if (std::strcmp(api::provider_of_device(table, device), known->provider) == 0)
        provider.devices.push_back(device);
  }
  if (provider.devices.empty()) {
    call->detail(call, "device", kind);
    throw Failure{ENGINE_UNAVAILABLE, std::string("The execution provider ") + kind +
                                          " is loaded and offers no device on this machine." +
                                          found_hardware(runtime)};
  }
  std::stable_sort(provider.devices.begin(), provider.devices.end(),
                   [&](const OrtEpDevice* left, const OrtEpDevice* right) {
                     const auto place = [&](const OrtEpDevice* device) {
                       return place_of(api::hardware_kind(table, api::hardware_of_device(table, device)));
                     };
                     return place(left) < place(right);
                   });
  provider.name = api::provider_of_device(table, provider.devices.front());
  for (size_t i = 0; i < provider.devices.size(); i++) {
    const OrtHardwareDevice* hardware = api::hardware_of_device(table, provider.devices[i]);
    const OrtKeyValuePairs* metadata = api::hardware_metadata(table, hardware);
    const char* description = metadata == nullptr ? nullptr : api::key_value(table, metadata, "Description");
    Device out;
    out.device = {ENGINE_OTHER_DEVICE, static_cast<int32_t>(i)};
    out.kind = kind;
    out.name = description != nullptr && *description != '\0' ? description : describe(table, hardware);
    engine.devices.list.push_back(out);
  }
}

std::string name_of(const engine_instance& engine, engine_device device) {
  if (device.type == ENGINE_OTHER_DEVICE && !engine.provider.kind.empty())
    return engine.provider.kind + ":" + std::to_string(device.index);
  Text text;
  return text.device(device).c_str();
}

bool is_reached(const engine_instance& engine, engine_device device) {
  return (device.type == ENGINE_CPU || device.type == ENGINE_OTHER_DEVICE) && engine.devices.has(device);
}

void require_own_device(const engine_instance& engine, engine_device device, engine_call* call) {
  if (engine.provider.kind.empty() || engine.devices.has(device)) return;
  const std::string wanted = name_of(engine, device);
  call->detail(call, "device", wanted.c_str());
  std::string has;
  for (const Device& one : engine.devices.list)
    has += (has.empty() ? "" : ", ") + name_of(engine, one.device);
  throw Failure{ENGINE_UNAVAILABLE, "This build has " + has + ", not " + wanted + "."};
}

void compute_on_provider(engine_instance& engine, OrtSessionOptions* options, int32_t index,
                         engine_call* call) {
  const Runtime& runtime = *engine.runtime;
  void* const* table = runtime.table();
  const Provider& provider = engine.provider;
  OrtStatus* status = nullptr;
  if (provider.devices.empty()) {
    status = api::append_provider(table, options, built_in_provider(provider.kind, call).appended_as, nullptr,
                                  nullptr, 0);
  } else {
    const OrtEpDevice* device = provider.devices[static_cast<size_t>(index)];
    // DirectML does not know memory patterns.
    if (provider.kind == "dml") runtime.check(api::disable_memory_pattern(table, options), ENGINE_INTERNAL);
    // OpenVINO computes float32 in bfloat16 or float16 where the device is faster with it, unless the mode is
    // accuracy (OpenVINO, "Precision Control").
    const char *
        key = "load_config",
       *value = R"({"CPU": {"EXECUTION_MODE_HINT": "ACCURACY"}, "GPU": {"EXECUTION_MODE_HINT": "ACCURACY"}})";
    const bool keeps_precision = provider.kind == "openvino";
    status = api::append_provider_devices(table, options, runtime.environment(), &device, 1,
                                          keeps_precision ? &key : nullptr,
                                          keeps_precision ? &value : nullptr, keeps_precision ? 1 : 0);
  }
  if (auto failed = runtime.failure(status, ENGINE_UNAVAILABLE)) {
    const std::string words = loader_words(failed->message);
    report_missing_library(words, call);
    call->detail(call, "provider", provider.name.c_str());
    throw Failure{ENGINE_UNAVAILABLE,
                  provider.kind + ":" + std::to_string(index) + " is not available: " + words,
                  failed->native};
  }
}

}  // namespace enginehost::engines::onnxruntime
