// After loading: did each library of the build come from the build?
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "host/load/in_process/load.hpp"

namespace enginehost::load {

// The driver's own libraries, which must come from the system and not from a build: libcuda, libnvidia-*,
// those of WSL and of Windows' DriverStore.
bool belongs_to_the_driver(const std::filesystem::path& library);

// One diagnosis for each library of the build (`own`: SONAME and absolute path) in whose place another file
// serves: "library", "path" (what serves), "wanted" (the build's), "by" (the way it came: "LD_PRELOAD",
// "LD_LIBRARY_PATH", "the process had it before", "the loader's search"). EH-L17 for a copy that was in the
// process `before`, EH-L11 otherwise. The file of that SONAME that was loaded first serves all later needs,
// so a build's own copy beside it changes nothing. The same file under another name, and a copy of the same
// bytes, are none. `loaded` is in load order.
std::vector<Diagnosis> hijacked(const std::vector<Library>& own, const std::vector<Library>& loaded,
                                const std::vector<Library>& before);

// True for the same file, or files of the same bytes.
bool same_content(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace enginehost::load
