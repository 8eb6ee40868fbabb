// Reads what loaders, runtimes and engines printed. Such texts are ambiguous and often false (a file of
// another machine is reported as "No such file or directory"), so what comes out is a hint of where to look,
// never a verdict: host/load/recheck.hpp holds it against the files.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnosis.hpp"

namespace enginehost::explain {

struct LoaderHint {
  std::string code;             // the class the text most often means: "EH-L01"
  std::string subject;          // the library or file named first
  std::string symbol;           // of an undefined symbol
  std::string version;          // of a symbol or a missing version
  std::string required_by;      // who wanted it, where the text says so
  std::string exception, what;  // of an uncaught C++ exception
  std::string number;           // of the system's or the runtime's error, where one is given: "126", "803"
  std::string found, required;  // what is here and what is wanted: processors, versions
  struct TriedPath {
    std::string path, reason;
  };
  std::vector<TriedPath> tried;  // every file the loader looked at, where the text lists them (dyld)
};

// All functions here are pure and may be called from any thread; texts that nothing is known about give
// nothing.

// One error text of dlopen, dlsym or dyld (glibc, musl, macOS), also behind what programs put before it
// ("ImportError: ", "java.lang.UnsatisfiedLinkError: /x/liby.so: ").
std::optional<LoaderHint> read_loader_text(std::string_view text);

// A message of an engine or of the CUDA runtime: PyTorch, TensorFlow, ONNX Runtime, ggml, cuDNN, NVRTC;
// Windows' error numbers inside such messages too, since Windows' own texts are translated into the user's
// language. Includes the texts of loaders when they stand in the message.
std::optional<LoaderHint> read_engine_text(std::string_view text);

// The last telling line of a process's standard error: a symbol lookup error, an assertion of ld.so, an
// uncaught exception, cuDNN's complaint about a part of itself.
std::optional<LoaderHint> read_error_output(std::string_view text);

// The hint as a diagnosis: code, evidence from the text, "os_said".
Diagnosis to_diagnosis(const LoaderHint& hint, std::string_view text);
// The hint's evidence only, for a diagnosis that has a code already. Keys that it holds stay as they are.
void add_evidence(Diagnosis& diagnosis, const LoaderHint& hint);

}  // namespace enginehost::explain
