// Looking at the machine this process runs on.
#pragma once
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "host/platform/platform.hpp"

namespace enginehost::platform {

struct DetectRequest {
  std::filesystem::path helper;  // enginehost-probe; empty: drivers are not asked, their facts say why
  std::filesystem::path
      cache_folder;  // whose disk is looked at; an absent folder: its nearest existing parent
  // A folder that stands for "/" when /proc, /sys, /etc … are read (tests); on Windows "C" below it stands
  // for "C:\".
  std::filesystem::path root = "/";
  std::chrono::milliseconds driver_deadline{15'000};
  std::vector<std::string>
      helper_launcher;  // a prefix for the helper's command line (ENGINEHOST_PROBE_LAUNCHER)
};

// Never fails as a whole: what cannot be found out is an unknown fact with its reason. Starts no child when
// nothing NVIDIA is present; otherwise asks the driver in the helper process, which has the deadline. Any
// thread.
Platform detect(const DetectRequest& request);

// Fills in Platform::libraries: which files the dynamic loader would take for these names, as they are now.
// Names that are paths are passed over, and those of files that are there and no library for this process.
// Any thread, one platform at a time.
void look_for_libraries(Platform& platform, std::vector<std::string> names,
                        const std::filesystem::path& root = "/");

}  // namespace enginehost::platform
