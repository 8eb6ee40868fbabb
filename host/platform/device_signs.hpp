// What files show of accelerators coming and going, read in microseconds and without calling into a driver.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "host/platform/root.hpp"

namespace enginehost::platform {

// Path and what it says, sorted by path; "" for a device file, of which only its being there counts.
using DeviceSigns = std::vector<std::pair<std::string, std::string>>;

// Device files (/dev/nvidia*, /dev/kfd, /dev/dri/renderD*, WSL's /dev/dxg), the devices that NVIDIA's kernel
// module serves and the module's version. A sign proves nothing: a process may go on with a device whose file
// was taken away. It says when to ask.
DeviceSigns device_signs(const Root& root);

// "/dev/nvidia0 is gone", "/dev/nvidia0 is there now", "/sys/module/nvidia/version was 535.104.05 and is
// 580.65.06".
std::vector<std::string> sign_changes(const DeviceSigns& before, const DeviceSigns& after);

}  // namespace enginehost::platform
