#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "host/platform/parts.hpp"
#include "host/platform/posix/pci_devices.hpp"

namespace enginehost::platform {

Fact<std::string> detect_other_gpus(const Root& root, const Fact<std::string>& wsl) {
  std::vector<std::string> names;
  for (const auto& [maker, vendor] : {std::pair("AMD ", "1002"), std::pair("Intel ", "8086")})
    for (const std::string& device : graphics_devices(root, vendor)) names.push_back(maker + device);
  if (!names.empty()) return Fact<std::string>::known(join(names, ", "), pci_folder);
  if (wsl.is_known() && root.exists("/dev/dxg"))
    return Fact<std::string>::unknown("WSL shows GPUs through /dev/dxg, not on the PCI bus");
  if (!root.is_folder(pci_folder))
    return Fact<std::string>::unknown(std::string(pci_folder) + " is not there");
  return Fact<std::string>::absent(pci_folder);
}

}  // namespace enginehost::platform
