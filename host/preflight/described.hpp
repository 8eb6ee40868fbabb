// Checks whether a build's libraries would find each other on a user's machine, from descriptions of the
// files. The archives need not be present.
#pragma once
#include <string>
#include <vector>

#include "host/linker/linker.hpp"
#include "host/preflight/preflight.hpp"

namespace enginehost::preflight {

// Paths are those of the view, written with "/".
struct DescribedBuild {
  linker::DescribedFiles files;  // below described_view
  std::string plugin;
  std::vector<std::string> search, optional, lazy;  // as in the manifest
  bool musl = false;
};
inline constexpr const char* described_view = "/view";
// Converts "lib/libx.so" to "/view/lib/libx.so", and back.
std::string in_described_view(const std::string& path);
std::string view_path_of(const std::string& path);

// Runs the search part of check() and check_foreign(). The report contains only missing and missing_later,
// for a machine on which nothing exists but the build; libraries of the system are therefore among them. On
// Windows, whose paths differ, nothing is reported as missing. Any thread.
Report check_described(const DescribedBuild& build);

}  // namespace enginehost::preflight
