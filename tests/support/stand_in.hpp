// Makes libraries of the tests that carry the mark of EngineHost's stand-ins.
#pragma once
#include <string>
#include <vector>

#include "tests/support/paths.hpp"

namespace enginehost::test {

// The options of a C compiler, with those that set the library's SONAME.
inline std::vector<std::string> stand_in_named(const std::string& soname) {
  return {"-include", source_path("/engines/pytorch/stand_ins/stand_in.h"), "-Wl,-soname," + soname};
}

}  // namespace enginehost::test
