// Libraries that stay in this process after a build failed to load.
//
// They cannot be unloaded, and the loader serves every later request for a SONAME with the file that came
// first. A build that brings another file of that name would run on the failed build's file.
//
// Thread safety: any thread.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cache/installed.hpp"
#include "host/load/in_process/load.hpp"

namespace enginehost::open {

// Adds the libraries of a failed load to those known of the build. `remembered`: the failure is on record, so
// that the next process does not choose the build.
void note_failed_load_libraries(const cache::Installed& installed, std::vector<load::Library> libraries,
                                bool remembered);

// Forgets the build, because it was loaded after all: its libraries are now its engine's (open_engines.hpp).
void forget_failed_load_libraries(const cache::Installed& installed);

// Returns false in nearly every process.
bool any_failed_load_libraries();

// Returns EH-L17 if one of `needs` (SONAME and path of the build's libraries) would be served by another file
// that a failed build left. Evidence: "library", "path", "wanted", "left_by", and "next_open", the build that
// a new process will choose. The same file is no conflict, nor is a file that an earlier attempt with the
// same digest loaded.
std::optional<Diagnosis> conflict_with_failed_load(const cache::Installed& installed,
                                                   const std::vector<load::Library>& needs);

}  // namespace enginehost::open
