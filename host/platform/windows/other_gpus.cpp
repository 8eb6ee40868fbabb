#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "host/platform/parts.hpp"
#include "host/platform/windows/display_devices.hpp"

namespace enginehost::platform {

Fact<std::string> detect_other_gpus(const Root& root, const Fact<std::string>&) {
  if (!root.is_this_machine())
    return Fact<std::string>::unknown("the devices of another root cannot be asked for");
  std::vector<std::string> names;
  for (const auto& [maker, vendor] : {std::pair("AMD ", "1002"), std::pair("Intel ", "8086")}) {
    const auto devices = display_devices(vendor);
    if (!devices) return Fact<std::string>::unknown("SetupAPI does not answer");
    for (const std::string& device : names_of(*devices)) names.push_back(maker + device);
  }
  return names.empty() ? Fact<std::string>::absent("SetupAPI")
                       : Fact<std::string>::known(join(names, ", "), "SetupAPI");
}

}  // namespace enginehost::platform
