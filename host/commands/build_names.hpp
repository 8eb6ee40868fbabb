// Short names of builds, licenses and keys on the command line.
//
// A build may be named by its id, by a unique beginning of its id, or by ENGINE, ENGINE@VERSION,
// ENGINE-VERSION or ENGINE-VERSION-FLAVOR if exactly one known build has these. Whole names go before
// beginnings. A name that matches nothing is returned as it was given, so that the command reports it in its
// own way (EH-S23, EH-S20, EH-P07). Errors: EH-P40 lists the matches if there are several.
#pragma once
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cache/store.hpp"

namespace enginehost::commands {

// The meaning of the argument ID in help texts.
inline constexpr const char* build_id_meaning =
    "an installed build: its id, a unique beginning of it, ENGINE or ENGINE@VERSION";

struct KnownBuild {
  std::string id;
  std::string engine, version, flavor;  // empty if unknown: only the id counts then
};

// Returns the id of the one known build that `given` names, or `given` if it names none.
Result<std::string> build_named(const std::string& given, const std::vector<KnownBuild>& known);

// Returns the id of the installed build that `given` names, or `given` if it names none. Builds of the
// writable layer go before those of read-only layers.
Result<std::string> installed_build(const cache::Store& store, const std::string& given);

// Returns the one of `ids` that is equal to `given` or begins with it; `given` if there is none. `kind` is
// what they are, for the message: "licenses".
Result<std::string> id_beginning_with(const std::string& given, const std::vector<std::string>& ids,
                                      const std::string& kind);

}  // namespace enginehost::commands
