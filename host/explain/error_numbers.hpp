// Error numbers of Windows and CUDA, and the class that each most often means. Numbers are used because texts
// are translated (Windows) or ambiguous (CUDA: "initialization error").
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace enginehost::explain {

// Returns the class ("EH-W01") of a number of GetLastError or of a delay-load exception (0xC06D007E); empty
// for other numbers.
std::string_view class_of_windows_error(std::uint32_t number);

// Returns the class ("EH-G07") of a cudaError_t or CUresult, which share these numbers; empty for errors that
// do not concern the start of an engine (an illegal address in a kernel). 35 is EH-G03 here, although the
// runtime also reports it without any driver: callers that know the driver's version (0) report EH-G01.
std::string_view class_of_cuda_error(std::int64_t number);

struct CudaError {
  std::int64_t number;
  std::string_view code;  // of the catalog
};
// Finds an error by its name ("cudaErrorNoDevice", "CUDA_ERROR_NO_DEVICE"), by the runtime's sentence for it,
// or by a number right after "CUDA error", "CUDA failure" or "Error" of a CUDA call.
std::optional<CudaError> find_cuda_error(std::string_view text);

}  // namespace enginehost::explain
