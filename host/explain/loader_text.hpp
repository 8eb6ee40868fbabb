// Reads the messages of loaders, runtimes and engines. Such texts are ambiguous and often false (a file for
// another machine is reported as "No such file or directory"). The result is a hint, never a verdict:
// host/load/probe_outcome.hpp compares it with the files.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnosis.hpp"

namespace enginehost::explain {

struct LoaderHint {
  Code code = Code::none;           // the class the text most often means
  std::string subject{};            // the library or file named first
  std::string symbol{};             // of an undefined symbol
  std::string version{};            // of a symbol or a missing version
  std::string required_by{};        // the file that needs it, if the text names it
  std::string exception{}, what{};  // of an uncaught C++ exception
  std::string number{};  // of the system's or the runtime's error, if the text has one: "126", "803"
  std::string found{}, required{};  // present and needed: processors, versions
  std::string resource{};           // EH-P52: "threads", "memory" or "files"
  struct TriedPath {
    std::string path, reason;
  };
  std::vector<TriedPath> tried{};  // every file that the loader tried, if the text lists them (dyld)
};

// All functions are pure and may be called from any thread. They return nothing for an unknown text.

// Reads one error text of dlopen, dlsym or dyld (glibc, musl, macOS), also behind a program's prefix
// ("ImportError: ", "java.lang.UnsatisfiedLinkError: /x/liby.so: ").
std::optional<LoaderHint> read_loader_text(std::string_view text);

// Reads a message of an engine or of the CUDA runtime: PyTorch, TensorFlow, ONNX Runtime, ggml, cuDNN, NVRTC.
// Also reads loader texts in such messages, and Windows' error numbers, because Windows translates its texts.
std::optional<LoaderHint> read_engine_text(std::string_view text);

// Reads the message of an engine that got no more threads, memory or files (EH-P52). The message alone
// decides for threads and files; memory needs a limit, because an engine may also ask for more than any
// machine has.
std::optional<LoaderHint> read_limit_text(std::string_view text);

// Reads the last useful line of a process's standard error: a symbol lookup error, an assertion of ld.so, an
// uncaught exception, an error of cuDNN about one of its parts, the reason why MKL, OpenMP, protobuf or
// AddressSanitizer ends a process.
std::optional<LoaderHint> read_error_output(std::string_view text);

// Returns the hint as a diagnosis: code, evidence from the text, "os_said".
Diagnosis to_diagnosis(const LoaderHint& hint, std::string_view text);
// Adds the hint's evidence to a diagnosis that has a code. Keys that are already there stay unchanged.
void add_evidence(Diagnosis& diagnosis, const LoaderHint& hint);

// Error numbers of Windows and CUDA, and the class that each most often means. Numbers are used because texts
// are translated (Windows) or ambiguous (CUDA: "initialization error").

// Returns the class of a number of GetLastError or of a delay-load exception (0xC06D007E);
// Code::none for other numbers.
Code class_of_windows_error(std::uint32_t number);

// Returns the class of a cudaError_t or CUresult, which share these numbers; Code::none for errors that do
// not concern the start of an engine (an illegal address in a kernel). 35 is EH-G03 here, although the
// runtime also reports it without any driver: callers that know the driver's version (0) report EH-G01.
Code class_of_cuda_error(std::int64_t number);

struct CudaError {
  std::int64_t number;
  Code code = Code::none;  // of the catalog
};
// Finds an error by its name ("cudaErrorNoDevice", "CUDA_ERROR_NO_DEVICE"), by the runtime's sentence for it,
// or by a number right after "CUDA error", "CUDA failure" or "Error" of a CUDA call.
std::optional<CudaError> find_cuda_error(std::string_view text);

// Returns cuda.h's name of a CUresult ("CUDA_ERROR_LAUNCH_FAILED"), also of errors that have no class: of the
// number, or of the error that a message names. Empty if it is not known.
std::string_view name_of_cuda_error(std::int64_t number);
std::string_view name_of_cuda_error_in(std::string_view text);

}  // namespace enginehost::explain
