// libengine_cuda: arithmetic on NVIDIA's GPUs with the CUDA runtime, cuBLASLt, cuDNN and kernels of its own.
// Start reading at engine_plugin_v1, at the end. The linked libraries load without a driver. Without one,
// create() succeeds and the engine reports no device and the reason.
#include <cstring>

#include "engines/cuda/instance.hpp"
#include "engines/support/plugin.hpp"

namespace enginehost::engines::cuda {
namespace {

Failure bad_option(const char* key, const std::string& why) {
  return {ENGINE_INVALID, why, "", 0, {{"option", key}}};
}

Settings read(const engine_entry* options, size_t count) {
  Settings out;
  for (size_t i = 0; i < count; i++) {
    const std::string key = options[i].key, value = options[i].value;
    const bool digits =
        !value.empty() && value.size() < 4 && value.find_first_not_of("0123456789") == value.npos;
    if (key == "cuda.device") {
      if (!digits)
        throw bad_option(options[i].key,
                         "The option cuda.device is the number of a device, not \"" + value + "\".");
      out.device = std::stoi(value);
    } else if (key == "cuda.tf32") {
      if (value != "0" && value != "1")
        throw bad_option(options[i].key, "The option cuda.tf32 is 0 or 1, not \"" + value + "\".");
      out.tf32 = value == "1";
    } else if (is_private_option(options[i].key)) {
      throw bad_option(options[i].key, "The engine cuda has no option \"" + key + "\".");
    }
  }
  return out;
}

// Without a driver, CUDA 11's runtime does not report its own version (13's does); the compiled version is
// used then.
std::string runtime_version() {
  int version = 0;
  if (cudaRuntimeGetVersion(&version) != cudaSuccess) version = CUDART_VERSION;
  static_cast<void>(cudaGetLastError());
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

// 91900 is 9.19.0: cuDNN since 9 and cuBLAS use the same scheme (cudnn_version.h, cublas_api.h).
std::string dotted(size_t version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

engine_status create(const engine_host* host, const engine_entry* options, size_t option_count,
                     engine_instance** out, engine_call* call) noexcept {
  *out = nullptr;
  return catch_all(call, [&] {
    const Settings settings = read(options, option_count);
    std::unique_ptr<engine_instance> engine(new engine_instance{host, list_devices(), settings, {}, {}, {}});
    const Devices& devices = engine->devices;
    if (!devices.list.empty() && !devices.has({ENGINE_CUDA, settings.device})) {
      throw bad_option("cuda.device", "The option cuda.device is " + std::to_string(settings.device) +
                                          ", and there are " + std::to_string(devices.list.size()) +
                                          " devices.");
    }
    auto fact = [&](const char* key, std::string value) {
      engine->facts.push_back({key, engine->texts.emplace_back(std::move(value)).c_str()});
    };
    fact("version", ENGINEHOST_PLUGIN_VERSION);
    fact("cuda", runtime_version());
    fact("cublas", dotted(cublasLtGetVersion()));
    fact("cudnn", dotted(cudnnGetVersion()));
    fact("code", ENGINEHOST_CUDA_CODE);
    fact("driver_cuda", devices.driver_cuda.empty() ? "none" : devices.driver_cuda);
    if (devices.list.empty()) {
      fact("no_device", devices.why_none.message);
      if (host->log_level <= ENGINE_LOG_INFO)
        host->log(host, ENGINE_LOG_INFO, "devices", devices.why_none.message.c_str());
    }
    *out = engine.release();
  });
}

void destroy(engine_instance* engine) noexcept {
  for (size_t i = 0; i < engine->sessions.size(); i++) {
    if (engine->sessions[i] == nullptr) continue;
    try {
      OnDevice here(static_cast<int>(i));
      engine->sessions[i].reset();
    } catch (const Failure&) {  // the device is lost, and so are its resources
      static_cast<void>(engine->sessions[i].release());
    }
  }
  delete engine;
}

constexpr Tables tables = {&device_table, &selftest_table, &tensor_table, &operation_table, nullptr};

constexpr const char* capabilities[] = {"device.cuda", nullptr};

// Not UNLOADABLE: the runtime and cuDNN keep threads and contexts for the rest of the process.
constexpr engine_plugin descriptor =
    describe_plugin("cuda", 0, capabilities, create, destroy, facts_in<engine_instance>, query<tables>);

}  // namespace
}  // namespace enginehost::engines::cuda

using namespace enginehost::engines::cuda;
extern "C" constexpr engine_plugin engine_plugin_v1 = descriptor;
