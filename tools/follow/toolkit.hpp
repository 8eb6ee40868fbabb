// Which CUDA a release was built for, without reading its libraries.
#pragma once
#include <string>

#include "base/result.hpp"
#include "tools/follow/derive.hpp"
#include "tools/follow/memory.hpp"

namespace enginehost::follow {

// Returns the toolkit's version, "13.2", for a row of that release; "" if its wheel names none, or the
// release has no wheel for the row. Wheels that were asked before are in the memory. Errors: as derive_row().
Result<std::string> toolkit_of_release(const Derivation& derivation, Memory& memory, const Row& row,
                                       const std::string& version);

}  // namespace enginehost::follow
