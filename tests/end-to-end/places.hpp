// Where the tests find what the build made and what the tree records.
#pragma once
#include <string>

namespace enginehost::test {

inline const std::string repository = std::string(ENGINEHOST_BUILD_DIR) + "/share/enginehost/repository";
inline const std::string profiles = std::string(ENGINEHOST_SOURCE_DIR) + "/tests/profiles/";

}  // namespace enginehost::test
