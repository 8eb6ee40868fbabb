// Errors inside this engine are exceptions, which every entry point catches. An error of CUDA's libraries is
// reported with their own name for it, the failed call and the device.
#pragma once
#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>

#include <exception>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "engines/support/text.hpp"

namespace enginehost::engines::cuda {

struct Failure {
  engine_status status;
  std::string message;
  const char* origin = "";  // "cuda", "cublas", "cudnn": the library whose code `native` is
  int64_t native = 0;
  std::vector<std::pair<std::string, std::string>> details = {};
};

// Maps a runtime error to what the plugin's caller should do next. Errors that persist in the process (CUDA
// Runtime API, cudaError: "the process must be terminated and relaunched") are ENGINE_LOST.
engine_status status_of(cudaError_t error);

// "cudaMalloc on cuda:0 failed: cudaErrorMemoryAllocation (2), out of memory". `device` is -1 if the call
// concerns no device.
Failure failed_call(cudaError_t error, const char* call, int device);

// Throws the Failure unless the call succeeded.
inline void check(cudaError_t error, const char* call, int device) {
  if (error != cudaSuccess) throw failed_call(error, call, device);
}
void check(cublasStatus_t status, const char* call, int device);
void check(cudnnStatus_t status, const char* call, int device);

// Runs `body`; an exception becomes a report and a status. Every function of a table uses it.
template <class Body>
engine_status catch_all(engine_call* call, Body&& body) noexcept {
  try {
    body();
    return ENGINE_OK;
  } catch (const Failure& failure) {
    for (const auto& [key, value] : failure.details) call->detail(call, key.c_str(), value.c_str());
    return call->fail(call, failure.status, failure.origin, failure.native, failure.message.c_str());
  } catch (const std::bad_alloc&) {
    return call->fail(call, ENGINE_NO_MEMORY, "", 0, "The CUDA engine is out of host memory.");
  } catch (const std::exception& error) {
    return call->fail(call, ENGINE_INTERNAL, "", 0, error.what());
  }
}

}  // namespace enginehost::engines::cuda
