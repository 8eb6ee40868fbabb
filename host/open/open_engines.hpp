// The engines that have been opened in this process, and whether one more can live beside them. A library is
// served by its name to all: the build that comes second would run on the first one's file.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cache/store.hpp"

namespace enginehost::open {

// By what an engine is told from others: the digest of its build's files, or the path of a plugin without
// manifest.
std::string identity_of(const cache::Installed& installed);

// An engine of the build is open, and its libraries come from these folders. Known until none of its
// libraries is in the process any more, which for most engines is the process's end. Any thread.
void note_engine(const std::string& build, const std::string& identity, std::vector<std::string> folders);

// How often note_engine() was told of a build that was not known: who looked before looks again when it
// differs.
std::uint64_t engines_noted();

// True while libraries of an engine of another build are in this process. Any thread; looks at the process's
// libraries only when there has been such an engine.
bool engine_beside(std::string_view identity);

// Why the build cannot be loaded beside what is open, from the warnings of its static check (made in this
// process, so that they tell of what is held): EH-L17 where a file of the build would be served by another
// engine's library of that name, unless both are the same bytes; EH-L35 where both bring LLVM's OpenMP
// runtime (libomp, libiomp5), whose second copy ends the process ("OMP: Error #15") unless
// KMP_DUPLICATE_LIB_OK is set. "held_by" is the build that is open. What disturbs nobody (two CUDA major
// versions, GNU's OpenMP runtime twice) stays a warning. Any thread.
std::optional<Diagnosis> conflict_with_engines(const std::string& identity,
                                               const std::vector<Diagnosis>& warnings);

}  // namespace enginehost::open
