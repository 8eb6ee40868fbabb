// Error numbers of Windows and CUDA and the class each most often means. Numbers are told apart where texts
// are translated (Windows) or repeated (CUDA: "initialization error").
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace enginehost::explain {

// A number of GetLastError, or the code of a delay-load exception (0xC06D007E): "EH-W01"; empty for others.
std::string_view class_of_windows_error(std::uint32_t number);

// A cudaError_t or CUresult, which share these numbers: "EH-G07"; empty for numbers that do not concern
// coming up (an illegal address in a kernel is not the machine's doing). 35 is EH-G03 here although the
// runtime also says so when there is no driver at all: whoever knows the driver's version (0) says EH-G01.
std::string_view class_of_cuda_error(std::int64_t number);

struct CudaError {
  std::int64_t number;
  std::string_view code;  // of the catalog
};
// A text that holds a name ("cudaErrorNoDevice", "CUDA_ERROR_NO_DEVICE"), the runtime's sentence for it, or a
// number right after "CUDA error", "CUDA failure" or "Error" of a CUDA call.
std::optional<CudaError> find_cuda_error(std::string_view text);

}  // namespace enginehost::explain
