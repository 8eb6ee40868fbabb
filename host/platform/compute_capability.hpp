// NVIDIA compute capabilities: whether GPU code runs on a device.
// Source: CUDA programming guide, "compute capabilities".
#pragma once
#include <optional>
#include <string_view>

namespace enginehost::platform {

struct Capability {
  int major = 0, minor = 0;
  char suffix = 0;  // 'a': exactly this device, 'f': its family
};
std::optional<Capability> parse_capability(std::string_view text);  // "8.6", "9.0a"

// Machine code (SASS) for `code` runs on devices of the same major version and at least its minor version.
// With suffix "a", and where either side is a Tegra chip, it runs on that device only.
bool sass_runs_on(const Capability& code, const Capability& device);
// Portable code (PTX) can be compiled for every later device; with "a" for that device only, with "f" for its
// major version.
bool ptx_runs_on(const Capability& code, const Capability& device);

}  // namespace enginehost::platform
