#include "engines/onnxruntime/devices.hpp"

#include "engines/onnxruntime/instance.hpp"
#include "engines/onnxruntime/system.hpp"

namespace enginehost::engines::onnxruntime {
namespace {

void add_cuda_devices(Devices& devices) {
  // The driver stays loaded because the provider uses it afterwards.
  std::string problem;
  void* const handle = open_library(driver_name, true, problem);
  const CudaDriver driver(handle, find_symbol);
  if (!driver.usable) {
    if (handle != nullptr) problem = std::string(driver_name) + " lacks functions that every driver has";
    devices.why_no_cuda = "there is no NVIDIA driver: " + problem;
    return;
  }
  int code = driver.init(0), count = 0;
  const char* asked = "cuInit";
  if (code == 0) {
    asked = "cuDeviceGetCount";
    code = driver.count(&count);
  }
  if (code != 0 || count == 0)
    devices.why_no_cuda = std::string("the driver has no device: ") + asked + " answers " +
                          (code != 0 ? "error " + std::to_string(code) : "none");
  for (int i = 0; code == 0 && i < count; i++) devices.list.push_back(cuda_device(driver, i));
}

uint32_t device_count(engine_instance* engine) noexcept {
  return static_cast<uint32_t>(engine->devices.list.size());
}

engine_status device_info(engine_instance* engine, uint32_t number, engine_device_info* out,
                          engine_call* call) noexcept {
  return report_device(engine->devices.list, number, out, call);
}

}  // namespace

bool Devices::has(engine_device device) const {
  for (const Device& one : list) {
    if (one.device.type == device.type && one.device.index == device.index) return true;
  }
  return false;
}

Devices list_devices(const std::string& library) {
  Devices devices;
  Device cpu;
  cpu.device = {ENGINE_CPU, 0};
  cpu.kind = "cpu";
  cpu.name = "CPUExecutionProvider";
  devices.list.push_back(cpu);
  const std::string provider = beside(library, provider_name);
  if (!exists(provider)) return devices;
  devices.cuda_provider = provider;
  add_cuda_devices(devices);
  return devices;
}

void require_device(const Devices& devices, engine_device device, engine_call* call) {
  if (devices.has(device)) return;
  Text wanted;
  wanted.device(device);
  call->detail(call, "device", wanted.c_str());
  std::string message;
  if (device.type == ENGINE_CUDA && !devices.cuda_provider.empty() && !devices.why_no_cuda.empty()) {
    report_missing_library(devices.why_no_cuda, call);
    message = std::string(wanted.c_str()) + " is not available: " + devices.why_no_cuda;
  } else {
    message = "This build has ";
    for (size_t i = 0; i < devices.list.size(); i++) {
      Text one;
      message += (i == 0 ? "" : ", ") + std::string(one.device(devices.list[i].device).c_str());
    }
    message = (devices.list.size() == 1 ? "This build has only cpu:0" : message) + ", not " + wanted.c_str();
  }
  throw Failure{ENGINE_UNAVAILABLE, message + "."};
}

extern const engine_device_v1 device_table = {device_count, device_info};

}  // namespace enginehost::engines::onnxruntime
