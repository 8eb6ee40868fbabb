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

// One diagnosis for each library of the build in whose place another file serves: "library", "path" (what
// serves), "wanted" (the build's), "by" (the way it came: "LD_PRELOAD", "LD_LIBRARY_PATH", "the process had
// it before", "the loader's search"). EH-L17 for a copy that was in the process `before`, EH-L11 otherwise.
// The build's are those of `own` (SONAME and absolute path) and, for a library that came from elsewhere, a
// file of its name in one of `own_folders`. The file of a SONAME that was loaded first serves all later
// needs, so a build's own copy behind it changes nothing. The same file under another name, and a copy of the
// same bytes, are none. EH-L11 with "from_environment" too for what came from a folder of LD_LIBRARY_PATH in
// nobody's place. `came`: what is in the process now, or that part of it that was not before, in load order;
// origins are needed only with folders. Any thread.
std::vector<Diagnosis> hijacked(const std::vector<Library>& own,
                                const std::vector<std::filesystem::path>& own_folders,
                                const std::vector<Library>& came, const std::vector<Library>& before);

// True for the same file, or files of the same bytes.
bool same_content(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace enginehost::load
