#include "engines/mxnet/devices.hpp"

#include "engines/mxnet/instance.hpp"
#include "engines/support/runtime_library.hpp"

namespace enginehost::engines::mxnet {
namespace {

uint32_t device_count(engine_instance* engine) noexcept {
  return static_cast<uint32_t>(engine->devices.list.size());
}

engine_status device_info(engine_instance* engine, uint32_t number, engine_device_info* out,
                          engine_call* call) noexcept {
  return report_device(engine->devices.list, number, out, call);
}

}  // namespace

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

extern const engine_device_v1 device_table = {device_count, device_info};

}  // namespace enginehost::engines::mxnet
