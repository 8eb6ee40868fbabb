// The version of Windows, as the kernel reports it. GetVersionEx returns another version to programs without
// the right manifest.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace enginehost::platform {

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

}  // namespace enginehost::platform
