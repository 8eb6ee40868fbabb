#include "engines/onnxruntime/devices.hpp"

#include "engines/onnxruntime/instance.hpp"
#include "engines/onnxruntime/system.hpp"

namespace enginehost::engines::onnxruntime {
namespace {

uint32_t device_count(engine_instance* engine) noexcept {
  return static_cast<uint32_t>(engine->devices.list.size());
}

engine_status device_info(engine_instance* engine, uint32_t number, engine_device_info* out,
                          engine_call* call) noexcept {
  return report_device(engine->devices.list, number, out, call);
}

}  // namespace

Devices list_devices(const std::string& library) {
  Devices devices = only_cpu("CPUExecutionProvider");
  if (!exists(beside(library, provider_name))) return devices;
  std::string problem;
  void* const driver = open_library(driver_name, true, problem);
  add_cuda_devices(devices, driver_name, driver, find_symbol, problem);
  devices.missing_library = missing_library_in(problem);
  return devices;
}

extern const engine_device_v1 device_table = {device_count, device_info};

}  // namespace enginehost::engines::onnxruntime
