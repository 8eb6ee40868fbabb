#include "tests/support/paths.hpp"

namespace enginehost::test {

std::string source_path(std::string_view below) { return ENGINEHOST_SOURCE_DIR + std::string(below); }

std::string build_path(std::string_view below) { return ENGINEHOST_BUILD_DIR + std::string(below); }

}  // namespace enginehost::test
