// Everything that a row is derived from, as one digest.
#pragma once
#include <string>

#include "base/result.hpp"
#include "tools/follow/index.hpp"
#include "tools/follow/plan.hpp"

namespace enginehost::follow {

// Returns a digest that is another one if the plan's row, its layouts or licenses change, or the wheels that
// it may be made of. Errors: those of Index::releases().
Result<std::string> inputs_of(const Plan& plan, const Row& row, const std::string& version, Index& index);

// Returns the pattern of a wheel's name; other variables than {version} may have any value.
std::string wheel_pattern(const Layout& layout, const std::string& version);

}  // namespace enginehost::follow
