// For which GPUs of NVIDIA code is made.
// Source: CUDA programming guide, "compute capabilities".
#pragma once
#include <optional>
#include <string_view>

namespace enginehost::platform {

struct Capability {
  int major = 0, minor = 0;
  char suffix = 0;  // 'a': exactly this one, 'f': its family
};
std::optional<Capability> parse_capability(std::string_view text);  // "8.6", "9.0a"

// Machine code (SASS) for `code` runs on a device of the same major and at least its minor; with "a", and
// where either is a Tegra chip's, on that device only.
bool sass_runs_on(const Capability& code, const Capability& device);
// Portable code (PTX) can be compiled for every later device; with "a" for that one, with "f" for its major.
bool ptx_runs_on(const Capability& code, const Capability& device);

}  // namespace enginehost::platform
