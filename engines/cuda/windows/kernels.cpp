// The kernels for Windows, for which nvcc does not compile on other systems. Device code is the same on every
// system: the CUDA runtime loads that of kernels.cu from the data of this file.
#include "engines/cuda/kernels.hpp"

#include <mutex>

// The section that NVIDIA's compiler uses, so that the code is found by those who inspect the file.
asm(".section .nv_fatb, \"dr\"\n"
    ".balign 16\n"
    ".globl enginehost_device_code\n"
    "enginehost_device_code:\n"
    ".incbin \"" ENGINEHOST_DEVICE_CODE
    "\"\n"
    ".text\n");

extern "C" const char enginehost_device_code[];

namespace enginehost::engines::cuda {
namespace {

// Loads the code once for the process; it stays, as that of a program does. A failure is tried again at the
// next call.
cudaError_t load_code(cudaLibrary_t* code) {
  static std::mutex mutex;
  static cudaLibrary_t loaded = nullptr;
  const std::lock_guard<std::mutex> alone(mutex);
  const cudaError_t error = loaded != nullptr ? cudaSuccess
                                              : cudaLibraryLoadData(&loaded, enginehost_device_code, nullptr,
                                                                    nullptr, 0, nullptr, nullptr, 0);
  *code = loaded;
  return error;
}

// `arguments` are addresses of the kernel's parameters, in their order.
cudaError_t launch(const char* name, int64_t blocks, void** arguments, cudaStream_t stream) {
  cudaLibrary_t code = nullptr;
  cudaKernel_t kernel = nullptr;
  cudaError_t error = load_code(&code);
  if (error == cudaSuccess) error = cudaLibraryGetKernel(&kernel, code, name);
  // The runtime takes a kernel handle wherever it takes the address of a kernel (cudaLaunchKernel).
  if (error == cudaSuccess)
    error = cudaLaunchKernel(static_cast<const void*>(kernel), dim3(static_cast<unsigned>(blocks)),
                             dim3(threads), arguments, 0, stream);
  static_cast<void>(cudaGetLastError());  // returned here; clears the error for the next call
  return error;
}

}  // namespace

cudaError_t launch_binary(Binary operation, const float* left, const float* right, float* out,
                          int64_t elements, const Axes& axes, cudaStream_t stream) {
  Axes copy = axes;
  void* arguments[] = {&left, &right, &out, &elements, &copy};
  return launch(operation == Binary::add ? "enginehost_add" : "enginehost_multiply",
                blocks_for(elements, threads), arguments, stream);
}

cudaError_t launch_relu(const float* in, float* out, int64_t elements, cudaStream_t stream) {
  void* arguments[] = {&in, &out, &elements};
  return launch("enginehost_relu", blocks_for(elements, threads), arguments, stream);
}

cudaError_t launch_softmax(const float* in, float* out, int64_t outer, int64_t length, int64_t inner,
                           cudaStream_t stream) {
  int64_t lines = outer * inner;
  void* arguments[] = {&in, &out, &lines, &length, &inner};
  return launch("enginehost_softmax", blocks_for(lines, 1), arguments, stream);
}

}  // namespace enginehost::engines::cuda
