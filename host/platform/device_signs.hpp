// Signs in files that accelerators were added or removed, read in microseconds and without calling into a
// driver.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "host/platform/root.hpp"

namespace enginehost::platform {

// Path and content, sorted by path. The content is "" for a device file, because only its presence counts.
using DeviceSigns = std::vector<std::pair<std::string, std::string>>;

// Returns device files (/dev/nvidia*, /dev/kfd, /dev/dri/renderD*, WSL's /dev/dxg), the devices that NVIDIA's
// kernel module serves, and the module's version. A changed sign proves nothing, because a process may keep
// using a device whose file was removed. It only says when to query the driver again.
DeviceSigns device_signs(const Root& root);

// "/dev/nvidia0 is gone", "/dev/nvidia0 is there now", "/sys/module/nvidia/version was 535.104.05 and is
// 580.65.06".
std::vector<std::string> sign_changes(const DeviceSigns& before, const DeviceSigns& after);

}  // namespace enginehost::platform
