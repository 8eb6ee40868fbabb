// NVIDIA's tables about drivers and compute capabilities, as functions.
// Sources: CUDA 13.1 release notes, tables 2 and 3; docs.nvidia.com/deploy/cuda-compatibility; CUDA
// programming guide, "compute capabilities" and "device enumeration".
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace enginehost::resolve {

// The newest CUDA that a driver supports, by its version: 535.104.05 is "12.2" (empty: older than
// CUDA 10.2's).
std::string cuda_of_driver(std::string_view driver, bool windows);

// The oldest driver on which builds of that toolkit run natively; empty when the table does not have the
// toolkit.
std::string native_driver(std::string_view toolkit, bool windows);

// The oldest driver that runs every minor version of that CUDA major ("minor version compatibility"); empty:
// the major has no such promise, as CUDA 10 and before.
std::string minor_version_driver(int toolkit_major, bool windows);

struct Capability {
  int major = 0, minor = 0;
  char suffix = 0;  // 'a': exactly this one, 'f': its family
};
std::optional<Capability> parse_capability(std::string_view text);  // "8.6", "9.0a"

// Machine code (SASS) for `code` runs on a device of the same major and at least its minor; with "a" on that
// device only.
bool sass_runs_on(const Capability& code, const Capability& device);
// Portable code (PTX) can be compiled for every later device; with "a" for that one, with "f" for its major.
bool ptx_runs_on(const Capability& code, const Capability& device);

}  // namespace enginehost::resolve
