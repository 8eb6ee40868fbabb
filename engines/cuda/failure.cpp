#include "engines/cuda/failure.hpp"

namespace enginehost::engines::cuda {
namespace {

Failure library_failure(engine_status status, const char* origin, int64_t native, const char* call,
                        int device, const std::string& name, const char* meaning) {
  std::string where = device < 0 ? "" : "cuda:" + std::to_string(device);
  std::string message = std::string(call) + (where.empty() ? "" : " on " + where) + " failed: " + name +
                        " (" + std::to_string(native) + ")";
  if (meaning != nullptr && *meaning != '\0' && name != meaning) message.append(", ").append(meaning);
  Failure failure{status, std::move(message), origin, native, {{"call", call}}};
  if (!where.empty()) failure.details.emplace_back("device", where);
  return failure;
}

engine_status status_of(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_ALLOC_FAILED:
      return ENGINE_NO_MEMORY;
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return ENGINE_UNAVAILABLE;
    case CUBLAS_STATUS_ARCH_MISMATCH:
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return ENGINE_UNSUPPORTED;
    case CUBLAS_STATUS_EXECUTION_FAILED:
      return ENGINE_LOST;
    default:
      return ENGINE_INTERNAL;
  }
}

// cuDNN 9 numbers its codes in thousands, one thousand for each kind (cudnn_graph.h, cudnnStatus_t).
engine_status status_of(cudnnStatus_t status) {
  if (status == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED ||
      status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED)
    return ENGINE_NO_MEMORY;
  if (status < CUDNN_STATUS_BAD_PARAM)
    return ENGINE_UNAVAILABLE;  // not initialized, a sub-library, the driver
  if (status >= CUDNN_STATUS_NOT_SUPPORTED && status < CUDNN_STATUS_INTERNAL_ERROR) return ENGINE_UNSUPPORTED;
  return status >= CUDNN_STATUS_EXECUTION_FAILED ? ENGINE_LOST : ENGINE_INTERNAL;
}

}  // namespace

engine_status status_of(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return ENGINE_NO_MEMORY;
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidKernelImage:
    case cudaErrorNotSupported:
      return ENGINE_UNSUPPORTED;
    case cudaErrorInitializationError:
    case cudaErrorInsufficientDriver:
    case cudaErrorCallRequiresNewerDriver:
    case cudaErrorStubLibrary:
    case cudaErrorDevicesUnavailable:
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
    case cudaErrorDeviceNotLicensed:
    case cudaErrorStartupFailure:
    case cudaErrorUnsupportedPtxVersion:  // the driver is older than the PTX of this build
    case cudaErrorJitCompilerNotFound:
    case cudaErrorJitCompilationDisabled:
    case cudaErrorSharedObjectInitFailed:
    case cudaErrorOperatingSystem:
    case cudaErrorSystemNotReady:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorCompatNotSupportedOnDevice:
    case cudaErrorMpsConnectionFailed:
    case cudaErrorMpsRpcFailure:
    case cudaErrorMpsServerNotReady:
    case cudaErrorMpsMaxClientsReached:
    case cudaErrorMpsMaxConnectionsReached:
      return ENGINE_UNAVAILABLE;
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorContextIsDestroyed:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorUnknown:
      return ENGINE_LOST;
    default:
      return ENGINE_INTERNAL;
  }
}

Failure failed_call(cudaError_t error, const char* call, int device) {
  // cudart 13 for Windows needs the driver's libraries (nvcuda.dll, nvcudart_hybrid64.dll) for every call.
  // Without them each call returns 801, and these two return no text.
  const char* const name = cudaGetErrorName(error);
  return library_failure(status_of(error), "cuda", error, call, device, name == nullptr ? "cudaError" : name,
                         cudaGetErrorString(error));
}

void check(cublasStatus_t status, const char* call, int device) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw library_failure(status_of(status), "cublas", status, call, device, cublasLtGetStatusName(status),
                        cublasLtGetStatusString(status));
}

void check(cudnnStatus_t status, const char* call, int device) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  char more[512] = {};
  cudnnGetLastErrorString(more, sizeof more);
  throw library_failure(status_of(status), "cudnn", status, call, device, cudnnGetErrorString(status), more);
}

}  // namespace enginehost::engines::cuda
