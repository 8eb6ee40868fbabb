#include "host/platform/device_signs.hpp"

#include <algorithm>

namespace enginehost::platform {

DeviceSigns device_signs(const Root& root) {
  DeviceSigns signs;
  const auto add_names = [&](const std::string& folder, std::string_view beginning) {
    for (const std::string& name : root.list(folder))
      if (name.starts_with(beginning)) signs.emplace_back(folder + "/" + name, "");
  };
  add_names("/dev", "nvidia");
  add_names("/dev/dri", "renderD");
  add_names("/proc/driver/nvidia/gpus", "");  // one folder per GPU, named by its bus address
  for (const char* file : {"/dev/kfd", "/dev/dxg"})
    if (root.exists(file)) signs.emplace_back(file, "");
  // The module cannot be replaced while a process uses it, but it can after the process lost its device.
  if (auto version = root.read("/sys/module/nvidia/version"))
    signs.emplace_back("/sys/module/nvidia/version", std::move(*version));
  std::sort(signs.begin(), signs.end());
  return signs;
}

}  // namespace enginehost::platform
