// The certificates that the system trusts, for callers that add to them.
#pragma once
#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace enginehost::transfer {

// Returns them in PEM form, at most `limit` bytes; empty if the system keeps none.
std::string system_certificates(std::uint64_t limit);

// Returns true if the library verifies only against a given list, because its check with the system's own
// list is none. Wine 8 is such a system.
bool needs_given_certificates();

}  // namespace enginehost::transfer
