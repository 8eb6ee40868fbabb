#include "engines/mxnet/devices.hpp"

#include "engines/mxnet/instance.hpp"
#include "engines/support/runtime_library.hpp"

namespace enginehost::engines::mxnet {

Devices list_devices(const Runtime& runtime) {
  Devices devices = only_cpu("MXNet");
  if (!runtime.has_cuda_code()) return devices;
  add_cuda_devices(devices);
  int count = 0;
  const bool counted = runtime->MXGetGPUCount(&count) == 0;
  const size_t usable = 1 + static_cast<size_t>(counted && count > 0 ? count : 0);
  if (usable >= devices.list.size()) return devices;
  // CUDA's own library may refuse what the driver lists, for example because the driver is too old for it.
  devices.list.resize(usable);
  if (usable == 1)
    devices.why_no_cuda = std::string("MXNet can use none of the driver's devices: MXGetGPUCount answers ") +
                          (counted ? std::string("0") : runtime.last_error());
  return devices;
}

extern const engine_device_v1 device_table = {count_devices<engine_instance>,
                                              describe_device<engine_instance>};

}  // namespace enginehost::engines::mxnet
