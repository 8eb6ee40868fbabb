// Check after loading that each library of the build came from the build.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "host/load/in_process/load.hpp"

namespace enginehost::load {

// True for the driver's own libraries, which must come from the system and not from a build: libcuda,
// libnvidia-*, those of WSL and of Windows' DriverStore.
bool belongs_to_the_driver(const std::filesystem::path& library);

// Returns one diagnosis for each library of the build in whose place another file serves: "library", "path"
// (the file that serves), "wanted" (the build's file), "by" (how it came: "LD_PRELOAD", "LD_LIBRARY_PATH",
// "the process had it before", "the loader's search"). EH-L17 for a copy that was in the process `before`,
// EH-L11 otherwise.
//
// The build's libraries are those of `own` (SONAME and absolute path) and, for a library that came from
// elsewhere, a file of its name in one of `own_folders`. The file of a SONAME that was loaded first serves
// all later needs, so a build's own copy loaded after it changes nothing. The same file under another name
// and a copy with the same bytes are no finding. A library from a folder of LD_LIBRARY_PATH that replaces no
// library of the build is EH-L11 with "from_environment".
//
// `came`: the libraries of the process now, or those of them that are not in `before`, in load order. Their
// origins are needed only with `own_folders`.
//
// Thread safety: any thread.
std::vector<Diagnosis> hijacked(const std::vector<Library>& own,
                                const std::vector<std::filesystem::path>& own_folders,
                                const std::vector<Library>& came, const std::vector<Library>& before);

// True for the same file and for files with the same bytes.
bool same_content(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace enginehost::load
