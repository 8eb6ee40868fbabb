#include "engines/onnxruntime/devices.hpp"

#include "engines/onnxruntime/instance.hpp"
#include "engines/onnxruntime/system.hpp"

namespace enginehost::engines::onnxruntime {

Devices list_devices(const std::string& library) {
  Devices devices = only_cpu("CPUExecutionProvider");
  if (!file_exists(beside(library, provider_name))) return devices;
  add_cuda_devices(devices);
  return devices;
}

extern const engine_device_v1 device_table = {count_devices<engine_instance>,
                                              describe_device<engine_instance>};

}  // namespace enginehost::engines::onnxruntime
