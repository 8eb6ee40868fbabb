// The engines that were opened in this process, and whether another build can be loaded beside them. The
// loader serves a library name to everyone with the file that came first, so the second build would run on
// the first one's file.
//
// Thread safety: any thread.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cache/store.hpp"

namespace enginehost::open {

// Returns the identity of an engine: the digest of its build's files, or the path of a plugin without a
// manifest.
std::string identity_of(const cache::Installed& installed);

// Records that an engine of the build is open, with the folders of its libraries. It stays recorded until
// none of its libraries is in the process; for most engines that is the end of the process.
void note_engine(const std::string& build, const std::string& identity, std::vector<std::string> folders);

// Counts the builds that note_engine() added. If the number differs from an earlier one, another engine was
// opened in between.
std::uint64_t engines_noted();

// Returns true while libraries of another build's engine are in this process. Reads the process's libraries
// only if such an engine was recorded.
bool engine_beside(std::string_view identity);

// Returns why the build cannot be loaded beside the open engines, or nothing. `warnings` are those of a
// static check made in this process. "held_by" names the open build.
//
// - EH-L17: another engine's library of the same name would replace a file of the build, and the bytes
//   differ.
// - EH-L35: both bring LLVM's OpenMP runtime (libomp, libiomp5). Its second copy ends the process ("OMP:
//   Error #15") unless KMP_DUPLICATE_LIB_OK is set.
//
// Two CUDA major versions, and GNU's OpenMP runtime twice, stay warnings.
std::optional<Diagnosis> conflict_with_engines(const std::string& identity,
                                               const std::vector<Diagnosis>& warnings);

}  // namespace enginehost::open
