#include "host/platform/posix/pci_devices.hpp"

#include <cstdio>
#include <map>
#include <optional>

#include "base/text.hpp"

namespace enginehost::platform {
namespace {

bool is_graphics_class(std::string_view text) {  // "0x030000" display, "0x030200" 3D, "0x120000" accelerator
  return text.starts_with("0x03") || text.starts_with("0x12");
}

// Returns the addresses of the vendor's devices from /proc/bus/pci/devices, which has vendor and device of
// every device in one file ("0100\t10de2684\t…"). sysfs needs two opens per device, and servers have
// hundreds. The address has bus, device and function: 8 + 5 + 3 bits.
std::optional<std::vector<std::string>> addresses_of(const Root& root, std::string_view vendor,
                                                     const std::vector<std::string>& all) {
  const auto text = root.read("/proc/bus/pci/devices");
  if (!text) return std::nullopt;
  std::vector<std::string> suffixes, addresses;
  for (const std::string& line : split(*text, '\n')) {
    const std::vector<std::string> columns = split(line, '\t');
    if (columns.size() < 2 || !columns[1].starts_with(vendor) || columns[0].size() != 4) continue;
    const unsigned number = static_cast<unsigned>(std::stoul("0" + columns[0], nullptr, 16));
    char address[16];
    std::snprintf(address, sizeof address, ":%02x:%02x.%x", number >> 8, number >> 3 & 31u, number & 7u);
    suffixes.emplace_back(address);
  }
  for (const std::string& name : all)  // "0000:01:00.0": the file has no domain
    for (const std::string& suffix : suffixes)
      if (name.ends_with(suffix)) {
        addresses.push_back(name);
        break;
      }
  return addresses;
}

}  // namespace

std::vector<std::string> graphics_devices(const Root& root, std::string_view vendor) {
  const std::string folder = pci_folder;
  const std::vector<std::string> all = root.list(folder);
  std::map<std::string, int> found;
  for (const std::string& address : addresses_of(root, vendor, all).value_or(all)) {
    const std::string device = folder + "/" + address;
    if (root.read(device + "/vendor").value_or("") != "0x" + std::string(vendor)) continue;
    if (!is_graphics_class(root.read(device + "/class").value_or("")))
      continue;  // the card's audio, USB and bridges
    const std::string id = root.read(device + "/device").value_or("0x????");
    ++found[std::string(vendor) + ":" + id.substr(id.find('x') + 1)];
  }
  std::vector<std::string> names;
  for (const auto& [name, count] : found)
    names.push_back(count > 1 ? name + " x " + std::to_string(count) : name);
  return names;
}

}  // namespace enginehost::platform
