// The libraries that this process had loaded before a build: some serve in place of the build's own, some
// keep it out, and beside some it fails although it works alone.
//
// Thread safety: hold the load lock. No library is executed.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnosis.hpp"
#include "base/result.hpp"
#include "cache/installed.hpp"
#include "host/settings/settings.hpp"

namespace enginehost::open {

// Libraries of the process that serve a build in place of its own.
struct Substitutes {
  std::vector<std::string> left_out;  // files of the build that are not opened
  std::optional<Diagnosis> used;      // EH-L37, which names the files that are used
  bool leave_out(const std::filesystem::path& file) const;
};

// Compares the build's libraries that share objects with the whole process (unique symbols) with the
// process's libraries, whatever these are called. A loaded copy is used if it has the SONAME, the release and
// the exported symbols of the build's library. The libraries beside the copy then serve the libraries that
// only the left-out ones need. Costs a few microseconds in a process without foreign libraries.
//
// Errors: EH-L17 ("library", "path", "wanted", "shares", and "loaded_release" with "release", "differs" or
// "loaded_as") for a copy that cannot be used. EH-P01 where policy forbids using it.
Result<Substitutes> substitutes_for(const cache::Installed& installed, const settings::Policy& policy);

// Returns the failure of a build that works alone, as one of this process, if the process holds other engines
// or foreign libraries: EH-L36, or the loader's own class (EH-L..). Returns nothing otherwise, and for
// failures that are never remembered.
std::optional<Diagnosis> failed_beside(const Diagnosis& failure, const cache::Installed& installed);

}  // namespace enginehost::open
