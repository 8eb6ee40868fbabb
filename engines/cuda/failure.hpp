// How an error travels inside this engine: as an exception, up to the entry point, which walls it in. What
// CUDA's libraries answer is told with their own name for it, the call that said it and the device.
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

// What the caller of the plugin should do next after an error of the runtime. Codes that stick to the process
// (CUDA Runtime API, cudaError: "the process must be terminated and relaunched") are ENGINE_LOST.
engine_status status_of(cudaError_t error);

// "cudaMalloc on cuda:0 failed: cudaErrorMemoryAllocation (2), out of memory". `device` is -1 where none is
// meant.
Failure failed_call(cudaError_t error, const char* call, int device);

// Nothing when all is well; else throws the Failure.
inline void check(cudaError_t error, const char* call, int device) {
  if (error != cudaSuccess) throw failed_call(error, call, device);
}
void check(cublasStatus_t status, const char* call, int device);
void check(cudnnStatus_t status, const char* call, int device);

// Runs `body`; whatever it throws becomes a report and a status. Every function of a table goes through here.
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
