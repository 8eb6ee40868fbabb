// Paths of the source tree and of the build tree.
//
// They are functions, not macros on the command line, so that the objects of test files are the same in
// every folder and the compiler cache can share them.
#pragma once

#include <string>
#include <string_view>

namespace enginehost::test {

// The path of a file of the source tree; `below` begins with "/" or is empty.
std::string source_path(std::string_view below = {});

// The path of a file that the build made, for example build_path("/bin/engine-info").
std::string build_path(std::string_view below = {});

}  // namespace enginehost::test
