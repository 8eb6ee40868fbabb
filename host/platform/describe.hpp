// Prints a machine's facts for people.
#pragma once
#include <string>

#include "host/platform/platform.hpp"

namespace enginehost::platform {

// Returns one aligned line per fact: name, value, and in parentheses where it was read. Lists take one line
// per element. Ends with a newline.
//
//   os                  linux                              (this program)
//   cuda.devices        0: NVIDIA A100, 8.0, 40 GiB        (cuDeviceGet)
//   cuda.driver_cuda    unknown (the driver did not answer in 15 s)
//   metal               none                               (not macOS)
std::string describe(const Platform& platform);

}  // namespace enginehost::platform
