// Detects the machine that this process runs on.
#pragma once
#include <chrono>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "host/platform/platform.hpp"
#include "host/platform/root.hpp"

namespace enginehost::platform {

struct DetectRequest {
  std::filesystem::path helper;  // enginehost-probe; empty: drivers are not queried and their facts say why
  std::filesystem::path
      cache_folder;  // its disk is examined; if the folder is missing, its nearest existing parent
  // A folder that stands for "/" when /proc, /sys, /etc … are read (tests). On Windows "C" below it stands
  // for "C:\".
  std::filesystem::path root = "/";
  std::chrono::milliseconds driver_deadline{15'000};
  std::vector<std::string>
      helper_launcher;  // a prefix for the probe's command line (ENGINEHOST_PROBE_LAUNCHER)
};

// Never fails as a whole: a fact that cannot be determined is unknown, with its reason. Starts no child
// process when nothing of NVIDIA is present. Otherwise queries the driver in the probe, which has the
// deadline. Any thread.
Platform detect(const DetectRequest& request);

// Fills Platform::libraries with the files that the dynamic loader would take for these names now. Skips
// names that are paths, and names whose files exist but are no library for this process. Any thread, one
// platform at a time.
void look_for_libraries(Platform& platform, std::vector<std::string> names,
                        const std::filesystem::path& root = "/");

// Signs in files that accelerators were added or removed, read in microseconds and without calling into a
// driver: path and content, sorted by path. The content is "" for a device file, because only its presence
// counts.
using DeviceSigns = std::vector<std::pair<std::string, std::string>>;

// Returns device files (/dev/nvidia*, /dev/kfd, /dev/dri/renderD*, WSL's /dev/dxg), the devices that NVIDIA's
// kernel module serves, and the module's version. A changed sign proves nothing, because a process may keep
// using a device whose file was removed. It only says when to query the driver again.
DeviceSigns device_signs(const Root& root);

// "/dev/nvidia0 is gone", "/dev/nvidia0 is there now", "/sys/module/nvidia/version was 535.104.05 and is
// 580.65.06".
std::vector<std::string> sign_changes(const DeviceSigns& before, const DeviceSigns& after);

}  // namespace enginehost::platform
