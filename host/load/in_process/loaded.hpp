// The libraries that are mapped into this process, and where each was really loaded from.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "host/load/in_process/load.hpp"

namespace enginehost::load {

// Returns every shared object of the process in load order, with its SONAME read from memory. The program
// itself and the kernel's vDSO are left out, and origins are not filled in. Any thread.
std::vector<Library> mapped_libraries();

// Returns the mapped_libraries() whose paths are not in `before`. Any thread.
std::vector<Library> mapped_since(const std::vector<Library>& before);

// Returns the folders from which the environment lets libraries be found: LD_LIBRARY_PATH as the loader read
// it when this process started (DYLD_LIBRARY_PATH on macOS); on Windows the folders of PATH without Windows'
// own. Any thread.
std::vector<std::filesystem::path> folders_of_environment();

// Fills in where each came from: below the view ("cache"), a folder of LD_LIBRARY_PATH or a file of
// LD_PRELOAD ("environment"), or the system.
void find_sources(std::vector<Library>& libraries, const std::filesystem::path& view);

// True for a library that LD_PRELOAD names by path or by file name.
bool is_preloaded_by_environment(const std::filesystem::path& library);

// EH-L11 for each file of `wanted` (absolute path) for whose SONAME the process holds another file.
std::vector<Diagnosis> substituted(const std::vector<Library>& loaded,
                                   const std::vector<std::filesystem::path>& wanted);

// Check after loading that each library of the build came from the build.

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
