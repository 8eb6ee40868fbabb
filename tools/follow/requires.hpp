// The requirements of a row: those that the files show, and those that the plan adds.
#pragma once
#include "base/json.hpp"

namespace enginehost::follow {

// Returns `read` with the members of `written`. Where both have a bound, both hold; lists hold the elements
// of both; members of objects, and other values, are those of `written`.
Json joined_requirements(const Json& read, const Json& written);

}  // namespace enginehost::follow
