#include "host/resolve/nvidia_rules.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace enginehost::resolve {
namespace {

using platform::CudaDevice;

// A device that the driver does not offer to this process is not visible, whatever the variable says.
VisibleDevices all_of(const std::vector<CudaDevice>& devices) {
  VisibleDevices visible;
  for (const CudaDevice& device : devices)
    if (device.visible) visible.devices.push_back(&device);
  return visible;
}

VisibleDevices not_certain(const std::vector<CudaDevice>& devices, std::string why) {
  VisibleDevices visible = all_of(devices);
  visible.certain = false;
  visible.why = std::move(why);
  return visible;
}

const CudaDevice* by_index(const std::vector<CudaDevice>& devices, std::int64_t index) {
  const auto found = std::find_if(devices.begin(), devices.end(),
                                  [&](const CudaDevice& device) { return device.index == index; });
  return found != devices.end() ? &*found : nullptr;
}

// Returns the only device whose UUID begins with the prefix; nullptr if there is none or more than one.
const CudaDevice* by_uuid(const std::vector<CudaDevice>& devices, std::string_view prefix) {
  const CudaDevice* found = nullptr;
  for (const CudaDevice& device : devices)
    if (device.uuid.starts_with(prefix)) {
      if (found != nullptr) return nullptr;
      found = &device;
    }
  return found;
}

}  // namespace

VisibleDevices visible_devices(const platform::Cuda& cuda) {
  const std::vector<CudaDevice>& devices = cuda.devices.value();
  const platform::Fact<std::string>& variable = cuda.visible_devices;
  // The driver already applied the variable. Its numbers differ from those of the list, and it may count from
  // the fastest device (CUDA_DEVICE_ORDER).
  if (cuda.init.is_known() || variable.is_absent()) return all_of(devices);
  if (variable.is_unknown())
    return not_certain(devices, "CUDA_VISIBLE_DEVICES is unknown: " + variable.why());
  VisibleDevices visible;
  if (trim(variable.value()).empty()) return visible;
  for (const std::string& part : split(variable.value(), ',')) {
    const std::string entry(trim(part));
    const CudaDevice* device = nullptr;
    if (const auto index = parse_integer(entry)) {
      device = by_index(devices, *index);
    } else if (entry.starts_with("GPU-")) {
      // Reports for other people omit UUIDs.
      if (std::any_of(devices.begin(), devices.end(), [](const CudaDevice& one) { return one.uuid.empty(); }))
        return not_certain(devices,
                           "CUDA_VISIBLE_DEVICES names a UUID, and those of the devices are not known");
      device = by_uuid(devices, entry);
    } else if (entry.starts_with("MIG-")) {
      return not_certain(devices, "CUDA_VISIBLE_DEVICES names a part of a device (MIG)");
    }
    if (device == nullptr) return visible;
    if (std::find(visible.devices.begin(), visible.devices.end(), device) != visible.devices.end()) return {};
    visible.devices.push_back(device);
  }
  return visible;
}

}  // namespace enginehost::resolve
