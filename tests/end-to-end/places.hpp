// Paths of what the build made and of what the tree records.
#pragma once
#include <string>

#include "tests/support/paths.hpp"

namespace enginehost::test {

inline const std::string repository = build_path("/share/enginehost/repository");
inline const std::string profiles = source_path("/tests/profiles/");

}  // namespace enginehost::test
