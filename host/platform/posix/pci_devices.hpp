// Graphics and compute devices on the PCI bus.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "host/platform/root.hpp"

namespace enginehost::platform {

inline constexpr const char* pci_folder = "/sys/bus/pci/devices";

// Returns the vendor's devices, sorted: "10de:2684", "10de:20b2 x 2". `vendor`: four hexadecimal digits.
// Empty also if there is no such folder.
std::vector<std::string> graphics_devices(const Root& root, std::string_view vendor);

}  // namespace enginehost::platform
