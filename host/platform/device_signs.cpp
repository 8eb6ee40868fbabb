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
  add_names("/proc/driver/nvidia/gpus", "");  // one folder for each, by its address on the bus
  for (const char* file : {"/dev/kfd", "/dev/dxg"})
    if (root.exists(file)) signs.emplace_back(file, "");
  // The module cannot be replaced under a process that uses it, but well after that process lost its device.
  if (auto version = root.read("/sys/module/nvidia/version"))
    signs.emplace_back("/sys/module/nvidia/version", std::move(*version));
  std::sort(signs.begin(), signs.end());
  return signs;
}

std::vector<std::string> sign_changes(const DeviceSigns& before, const DeviceSigns& after) {
  const auto value_in = [](const DeviceSigns& signs, const std::string& path) -> const std::string* {
    const auto found =
        std::find_if(signs.begin(), signs.end(), [&](const auto& sign) { return sign.first == path; });
    return found != signs.end() ? &found->second : nullptr;
  };
  std::vector<std::string> changes;
  for (const auto& [path, value] : before) {
    const std::string* now = value_in(after, path);
    if (now == nullptr)
      changes.push_back(path + " is gone");
    else if (*now != value)
      changes.push_back(path + " was " + value + " and is " + *now);
  }
  for (const auto& [path, value] : after)
    if (value_in(before, path) == nullptr) changes.push_back(path + " is there now");
  return changes;
}

}  // namespace enginehost::platform
