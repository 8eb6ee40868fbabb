// A problem of one installed file.
#pragma once
#include <string>

#include "base/diagnosis.hpp"

namespace enginehost::cache {

struct Problem {
  enum class Kind {
    missing,
    empty,
    truncated,
    wrong_size,
    wrong_bytes,
    wrong_kind,
    wrong_mode,
    unexpected,
    unreadable
  };
  Kind kind = Kind::missing;
  std::string path;     // in the view
  Diagnosis diagnosis;  // EH-F01, F02, F04, F08, F11: "build", "file", "needed_size", "size", …
};
const char* name_of(Problem::Kind kind);

}  // namespace enginehost::cache
