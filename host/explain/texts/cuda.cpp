// CUDA's errors. The sentences are those of cudaGetErrorString (libcudart 13), the names those of
// driver_types.h and cuda.h; a cudaError_t and a CUresult of one meaning share their number.
#include <charconv>

#include "host/explain/texts/reading.hpp"

namespace enginehost::explain {
namespace {

struct CudaErrorText {
  std::int64_t number;
  Code code = Code::none;
  std::string_view runtime_name, driver_name, sentence;
  bool vague = false;  // a sentence that other programs use too: it counts only beside the word CUDA
};
constexpr CudaErrorText rows[] = {
    {2, Code::gpu_busy, "cudaErrorMemoryAllocation", "CUDA_ERROR_OUT_OF_MEMORY", "out of memory", true},
    {3, Code::cuda_after_fork, "cudaErrorInitializationError", "CUDA_ERROR_NOT_INITIALIZED",
     "initialization error", true},
    {34, Code::driver_is_stub, "cudaErrorStubLibrary", "CUDA_ERROR_STUB_LIBRARY",
     "CUDA driver is a stub library"},
    {35, Code::driver_too_old, "cudaErrorInsufficientDriver", "",
     "CUDA driver version is insufficient for CUDA runtime version"},
    {36, Code::driver_lacks_function, "cudaErrorCallRequiresNewerDriver", "",
     "API call is not supported in the installed CUDA driver"},
    {46, Code::gpu_busy, "cudaErrorDevicesUnavailable", "CUDA_ERROR_DEVICE_UNAVAILABLE",
     "CUDA-capable device(s) is/are busy or unavailable"},
    {100, Code::no_gpu_visible, "cudaErrorNoDevice", "CUDA_ERROR_NO_DEVICE",
     "no CUDA-capable device is detected"},
    {101, Code::no_gpu_visible, "cudaErrorInvalidDevice", "CUDA_ERROR_INVALID_DEVICE",
     "invalid device ordinal"},
    {209, Code::no_code_for_gpu, "cudaErrorNoKernelImageForDevice", "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available"},
    {214, Code::gpu_busy, "cudaErrorECCUncorrectable", "CUDA_ERROR_ECC_UNCORRECTABLE",
     "uncorrectable ECC error encountered"},
    {218, Code::gpu_code_newer_than_driver, "cudaErrorInvalidPtx", "CUDA_ERROR_INVALID_PTX",
     "a PTX JIT compilation failed"},
    {221, Code::gpu_code_newer_than_driver, "cudaErrorJitCompilerNotFound",
     "CUDA_ERROR_JIT_COMPILER_NOT_FOUND", "PTX JIT compiler library not found"},
    {222, Code::gpu_code_newer_than_driver, "cudaErrorUnsupportedPtxVersion",
     "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the provided PTX was compiled with an unsupported toolchain"},
    {223, Code::gpu_code_newer_than_driver, "cudaErrorJitCompilationDisabled",
     "CUDA_ERROR_JIT_COMPILATION_DISABLED", "PTX JIT compilation was disabled"},
    {304, Code::cuda_unknown_error, "cudaErrorOperatingSystem", "CUDA_ERROR_OPERATING_SYSTEM",
     "OS call failed or operation not supported on this OS"},
    {500, Code::driver_lacks_function, "cudaErrorSymbolNotFound", "CUDA_ERROR_NOT_FOUND",
     "named symbol not found"},
    {802, Code::gpu_fabric_not_initialized, "cudaErrorSystemNotReady", "CUDA_ERROR_SYSTEM_NOT_READY",
     "system not yet initialized"},
    {803, Code::driver_and_library_differ, "cudaErrorSystemDriverMismatch",
     "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "system has unsupported display driver / cuda driver combination"},
    {804, Code::forward_compatibility_not_supported, "cudaErrorCompatNotSupportedOnDevice",
     "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", "forward compatibility was attempted on non supported HW"},
    {805, Code::gpu_busy, "cudaErrorMpsConnectionFailed", "CUDA_ERROR_MPS_CONNECTION_FAILED",
     "MPS client failed to connect to the MPS control daemon or the MPS server"},
    {806, Code::gpu_busy, "cudaErrorMpsRpcFailure", "CUDA_ERROR_MPS_RPC_FAILURE",
     "the remote procedural call between the MPS server and the MPS client failed"},
    {807, Code::gpu_busy, "cudaErrorMpsServerNotReady", "CUDA_ERROR_MPS_SERVER_NOT_READY",
     "MPS server is not ready to accept new MPS client requests"},
    {808, Code::gpu_busy, "cudaErrorMpsMaxClientsReached", "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED",
     "the hardware resources required to create MPS client have been exhausted"},
    {809, Code::gpu_busy, "cudaErrorMpsMaxConnectionsReached", "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED",
     "the hardware resources required to support device connections have been exhausted"},
    {999, Code::cuda_unknown_error, "cudaErrorUnknown", "CUDA_ERROR_UNKNOWN", "unknown error", true},
};

// Errors of a device at work, which have no class of their own. cuda.h has the names.
struct CudaErrorName {
  std::int64_t number;
  std::string_view name, sentence;
};
constexpr CudaErrorName at_work[] = {
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {4, "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
    {200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {219, "CUDA_ERROR_INVALID_GRAPHICS_CONTEXT", "invalid OpenGL or DirectX context"},
    {220, "CUDA_ERROR_NVLINK_UNCORRECTABLE", "uncorrectable NVLink error detected during the execution"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
    {709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
    {710, "CUDA_ERROR_ASSERT", "device-side assert triggered"},
    {714, "CUDA_ERROR_HARDWARE_STACK_ERROR", "hardware stack error"},
    {715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "an illegal instruction was encountered"},
    {716, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {717, "CUDA_ERROR_INVALID_ADDRESS_SPACE", "operation not supported on global/shared address space"},
    {718, "CUDA_ERROR_INVALID_PC", "invalid program counter"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {800, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"},
    {801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
};

bool is_part_of_a_name(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

// cudaErrorInvalidDevice does not match in "cudaErrorInvalidDeviceFunction".
bool names(std::string_view text, std::string_view name) {
  if (name.empty()) return false;
  const std::size_t at = text.find(name);
  return at != std::string_view::npos &&
         (at + name.size() == text.size() || !is_part_of_a_name(text[at + name.size()]));
}

std::optional<std::int64_t> error_number_in(std::string_view text) {
  // ONNX Runtime: "CUDA failure 35: …"; PyTorch: "… cudaGetDeviceCount() … Error 804: …".
  for (const std::string_view front :
       {"CUDA failure ", "CUDA error ", "CUDA error: ", "CUDA error code ", "Error "}) {
    if (front == "Error " && !texts::contains(text, "cuda")) continue;
    const std::string digits = texts::number_after(text, front);
    std::int64_t value = 0;
    if (!digits.empty() &&
        std::from_chars(digits.data(), digits.data() + digits.size(), value).ec == std::errc())
      return value;
  }
  return std::nullopt;
}

}  // namespace

Code class_of_cuda_error(std::int64_t number) {
  for (const CudaErrorText& row : rows)
    if (row.number == number) return row.code;
  return {};
}

std::string_view name_of_cuda_error(std::int64_t number) {
  for (const CudaErrorText& row : rows)
    if (row.number == number) return row.driver_name.empty() ? row.runtime_name : row.driver_name;
  for (const CudaErrorName& row : at_work)
    if (row.number == number) return row.name;
  return {};
}

std::string_view name_of_cuda_error_in(std::string_view text) {
  if (const auto known = find_cuda_error(text)) return name_of_cuda_error(known->number);
  for (const CudaErrorName& row : at_work)
    if (names(text, row.name)) return row.name;
  if (const auto number = error_number_in(text))
    if (const std::string_view name = name_of_cuda_error(*number); !name.empty()) return name;
  if (!texts::contains(text, "CUDA")) return {};
  for (const CudaErrorName& row : at_work)
    if (texts::contains(text, row.sentence)) return row.name;
  return {};
}

std::optional<CudaError> find_cuda_error(std::string_view text) {
  for (const CudaErrorText& row : rows)
    if (names(text, row.runtime_name) || names(text, row.driver_name)) return CudaError{row.number, row.code};
  for (const CudaErrorText& row : rows)
    if (!row.vague && texts::contains(text, row.sentence)) return CudaError{row.number, row.code};
  if (const auto number = error_number_in(text))
    if (const Code code = class_of_cuda_error(*number); code != Code::none) return CudaError{*number, code};
  // PyTorch: "CUDA unknown error - this may be due to an incorrectly set up environment".
  const bool of_cuda = texts::contains(text, "CUDA error") || texts::contains(text, "initialize CUDA") ||
                       texts::contains(text, "CUDA unknown error");
  for (const CudaErrorText& row : rows)
    if (row.vague && of_cuda && texts::contains(text, row.sentence)) return CudaError{row.number, row.code};
  return std::nullopt;
}

namespace texts {

std::optional<LoaderHint> read_cuda(std::string_view text) {
  const auto error = find_cuda_error(text);
  if (!error) return std::nullopt;
  return LoaderHint{.code = error->code, .number = std::to_string(error->number)};
}

}  // namespace texts
}  // namespace enginehost::explain
