#include "host/platform/device_signs.hpp"

#include <algorithm>

#include "host/platform/windows/registry.hpp"

namespace enginehost::platform {

// Windows lists a driver's devices, by number, in the driver's "Enum" key, and the driver version of each
// display device in the key of its class. Both follow plugging and updates. No driver is loaded.
DeviceSigns device_signs(const Root& root) {
  DeviceSigns signs;
  if (!root.is_this_machine()) return signs;
  const std::string system = "SYSTEM\\CurrentControlSet\\";
  for (const char* driver : {"nvlddmkm", "amdkmdag", "amdwddmg"})  // NVIDIA's, AMD's before and since 2021
    for (const auto& [number, device] : registry::texts_of(system + "Services\\" + driver + "\\Enum"))
      signs.emplace_back(driver + (": " + device), "");
  const std::string displays = system + "Control\\Class\\{4d36e968-e325-11ce-bfc1-08002be10318}";
  for (const std::string& key : registry::keys_below(displays))
    if (auto version = registry::text(displays + "\\" + key, "DriverVersion"))
      signs.emplace_back("driver of display device " + key, std::move(*version));
  std::sort(signs.begin(), signs.end());
  return signs;
}

}  // namespace enginehost::platform
