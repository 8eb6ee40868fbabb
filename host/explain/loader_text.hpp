// Reads what a dynamic loader printed. Its texts are ambiguous and often false (a file of another machine is
// reported as "No such file or directory"), so what comes out is a hint of where to look, never a verdict:
// the files decide.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/diagnosis.hpp"

namespace enginehost::explain {

struct LoaderHint {
  std::string code;             // the class the text most often means: "EH-L01"
  std::string subject;          // the library or file named first
  std::string symbol;           // of an undefined symbol
  std::string version;          // of a symbol or a missing version
  std::string required_by;      // who wanted it, where the text says so
  std::string exception, what;  // of an uncaught C++ exception
};

// One error text of dlopen or dlsym (glibc or musl).
std::optional<LoaderHint> read_loader_text(std::string_view text);

// The last telling line of a process's standard error: a symbol lookup error, an assertion of ld.so, an
// uncaught exception, cuDNN's complaint about a part of itself.
std::optional<LoaderHint> read_error_output(std::string_view text);

// The hint as a diagnosis: code, evidence from the text, "os_said".
Diagnosis to_diagnosis(const LoaderHint& hint, std::string_view text);

}  // namespace enginehost::explain
