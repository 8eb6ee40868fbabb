// Detects the machine that this process runs on.
#pragma once
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "host/platform/platform.hpp"

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

}  // namespace enginehost::platform
