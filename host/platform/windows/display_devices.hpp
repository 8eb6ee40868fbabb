// Graphics and compute devices on the PCI bus, as Windows' plug and play lists them.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace enginehost::platform {

struct DisplayDevice {
  std::string id;              // "10de:2503"
  std::string driver_version;  // from the registry, "31.0.15.3623"; empty without NVIDIA's driver
};

// Returns the vendor's present devices. Includes those without a driver, of which Windows knows only the
// class on the bus. Returns nothing when SetupAPI fails. Loads no driver code. `vendor`: four hexadecimal
// digits, "10de". Any thread.
std::optional<std::vector<DisplayDevice>> display_devices(const std::string& vendor);
// Returns "10de:2503", "10de:20b2 x 2" for those devices, sorted.
std::vector<std::string> names_of(const std::vector<DisplayDevice>& devices);

// Returns NVIDIA's version number for "31.0.15.3623": the last five digits, "536.23". Empty for other texts.
// Pure.
std::string nvidia_version(const std::string& of_windows);

}  // namespace enginehost::platform
