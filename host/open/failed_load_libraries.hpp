// What builds that failed to load have left in this process. Their libraries cannot be taken out again, and
// the loader serves every later need of a SONAME with the file that came first: a build that brings another
// file of that name would run on the failed one's.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cache/installed.hpp"
#include "host/load/in_process/load.hpp"

namespace enginehost::open {

// Any thread. Told again of a build, it adds to what is known. `remembered`: the next process will not choose
// that build.
void note_failed_load_libraries(const cache::Installed& installed, std::vector<load::Library> libraries,
                                bool remembered);

// Any thread. It was loaded after all: what its failed tries left is its engine's (neighbors.hpp).
void forget_failed_load_libraries(const cache::Installed& installed);

// Any thread. False in nearly every process: nothing failed to load here.
bool any_failed_load_libraries();

// EH-L17 when one of `needs` (SONAME and path of the build's libraries) is in this process from another
// file that a failed build left: "library", "path", "wanted", "left_by", and "next_open", the build that a
// new process will choose. The same file does no harm: it is what the build wants; nor does what an earlier
// try of these very bytes got.
std::optional<Diagnosis> conflict_with_failed_load(const cache::Installed& installed,
                                                   const std::vector<load::Library>& needs);

}  // namespace enginehost::open
