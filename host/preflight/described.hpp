// Whether a build's libraries would find each other on a user's machine, told from what they say of
// themselves: the archives need not be here.
#pragma once
#include <string>
#include <vector>

#include "host/linker/described_files.hpp"
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
// "/view/lib/libx.so" for "lib/libx.so", and back.
std::string in_described_view(const std::string& path);
std::string view_path_of(const std::string& path);

// check() and check_foreign() as far as finding goes: in the report are missing and missing_later alone, of a
// machine on which nothing lies but the build. So what the system brings is among them, too. Not on Windows,
// whose paths are written otherwise: nothing is missing there. Any thread.
Report check_described(const DescribedBuild& build);

}  // namespace enginehost::preflight
