// Reads the version, the devices and the registry of Windows.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace enginehost::platform {

// The version of Windows, as the kernel reports it. GetVersionEx returns another version to programs without
// the right manifest.
struct WindowsVersion {
  std::uint32_t major = 0, minor = 0, build = 0;
  bool server = false;
  std::string text() const;  // "10.0.22631"
};

// Empty when ntdll has no RtlGetVersion.
std::optional<WindowsVersion> windows_version();

// The marketing name: "Windows 11 Pro" and "23H2" from the registry give "Windows 11 Pro 23H2" and "11".
// Windows 11 names itself "Windows 10 Pro" in the registry; only its build number (22000 and newer) shows the
// difference. Pure.
struct WindowsName {
  std::string name, version;
};
WindowsName name_of(const WindowsVersion& version, std::string product, const std::string& release);

// A graphics or compute device on the PCI bus, as Windows' plug and play lists it.
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

// Reads HKEY_LOCAL_MACHINE, always its 64-bit view. Names and texts are UTF-8. A value that is missing,
// unreadable or of another type is returned as nothing. Any thread.
namespace registry {

std::optional<std::string> text(const std::string& key, const std::string& name);
std::optional<std::uint32_t> number(const std::string& key, const std::string& name);
// Returns the names of the subkeys, sorted.
std::vector<std::string> keys_below(const std::string& key);
// Returns name and text of each text value, sorted.
std::vector<std::pair<std::string, std::string>> texts_of(const std::string& key);

}  // namespace registry

}  // namespace enginehost::platform
