// The certificates that the system trusts, for those who add to them.
#pragma once
#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace enginehost::transfer {

// In PEM form, at most `limit` bytes; empty where the system keeps none.
std::string system_certificates(std::uint64_t limit);

// Only a list that is given is checked against: the library's check with the system's own list is none. Wine
// 8's is.
bool needs_given_certificates();

}  // namespace enginehost::transfer
