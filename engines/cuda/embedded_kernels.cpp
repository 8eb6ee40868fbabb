// The kernels of kernels.cu, compiled to device code alone and embedded as data. Used where no compiler makes
// the host's part of a .cu file: for Windows on another system, and with NVIDIA's wheels, which have NVRTC.
// Device code is the same on every system.
#include <fatbinary_section.h>

#include <mutex>

#include "engines/cuda/kernels.hpp"

// The section that NVIDIA's compiler uses, so that the code is found by those who inspect the file.
#ifdef _WIN32
#define DEVICE_CODE_SECTION ".section .nv_fatb, \"dr\"\n"
#else
#define DEVICE_CODE_SECTION ".section .nv_fatbin, \"a\"\n"
#endif
asm(DEVICE_CODE_SECTION
    ".balign 16\n"
    ".globl enginehost_device_code\n"
    "enginehost_device_code:\n"
    ".incbin \"" ENGINEHOST_DEVICE_CODE
    "\"\n"
    ".text\n");

extern "C" const unsigned long long enginehost_device_code[];

#if CUDART_VERSION < 12000
// CUDA 11's runtime loads code only as compilers hand it over. crt/host_runtime.h has these declarations.
extern "C" {
void** CUDARTAPI __cudaRegisterFatBinary(void* code);
void CUDARTAPI __cudaRegisterFunction(void** module, const char* address, char* device_function,
                                      const char* name, int thread_limit, uint3*, uint3*, dim3*, dim3*, int*);
void CUDARTAPI __cudaRegisterFatBinaryEnd(void** module);
}
#endif

namespace enginehost::engines::cuda {
namespace {

enum Kernel { add, multiply, relu, softmax, kernel_count };
constexpr const char* names[kernel_count] = {"enginehost_add", "enginehost_multiply", "enginehost_relu",
                                             "enginehost_softmax"};

#if CUDART_VERSION < 12000

// The runtime knows a kernel by an address of the host. It loads the code for a device at the first launch.
cudaError_t find(Kernel kernel, const void** found) {
  static char addresses[kernel_count];
  static const bool registered = [] {
    static __fatBinC_Wrapper_t code = {FATBINC_MAGIC, FATBINC_VERSION, enginehost_device_code, nullptr};
    void** module = __cudaRegisterFatBinary(&code);
    for (int i = 0; i < kernel_count; i++)
      __cudaRegisterFunction(module, &addresses[i], const_cast<char*>(names[i]), names[i], -1, nullptr,
                             nullptr, nullptr, nullptr, nullptr);
    __cudaRegisterFatBinaryEnd(module);
    return true;
  }();
  static_cast<void>(registered);
  *found = &addresses[kernel];
  return cudaSuccess;
}

#else

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

// The runtime takes a kernel handle wherever it takes the address of a kernel (cudaLaunchKernel).
cudaError_t find(Kernel kernel, const void** found) {
  cudaLibrary_t code = nullptr;
  cudaKernel_t handle = nullptr;
  cudaError_t error = load_code(&code);
  if (error == cudaSuccess) error = cudaLibraryGetKernel(&handle, code, names[kernel]);
  *found = static_cast<const void*>(handle);
  return error;
}

#endif

// `arguments` are addresses of the kernel's parameters, in their order.
cudaError_t launch(Kernel kernel, int64_t blocks, void** arguments, cudaStream_t stream) {
  const void* function = nullptr;
  cudaError_t error = find(kernel, &function);
  if (error == cudaSuccess)
    error =
        cudaLaunchKernel(function, dim3(static_cast<unsigned>(blocks)), dim3(threads), arguments, 0, stream);
  static_cast<void>(cudaGetLastError());  // returned here; clears the error for the next call
  return error;
}

}  // namespace

cudaError_t launch_binary(Binary operation, const float* left, const float* right, float* out,
                          int64_t elements, const Axes& axes, cudaStream_t stream) {
  Axes copy = axes;
  void* arguments[] = {&left, &right, &out, &elements, &copy};
  return launch(operation == Binary::add ? add : multiply, blocks_for(elements, threads), arguments, stream);
}

cudaError_t launch_relu(const float* in, float* out, int64_t elements, cudaStream_t stream) {
  void* arguments[] = {&in, &out, &elements};
  return launch(relu, blocks_for(elements, threads), arguments, stream);
}

cudaError_t launch_softmax(const float* in, float* out, int64_t outer, int64_t length, int64_t inner,
                           cudaStream_t stream) {
  int64_t lines = outer * inner;
  void* arguments[] = {&in, &out, &lines, &length, &inner};
  return launch(softmax, blocks_for(lines, 1), arguments, stream);
}

}  // namespace enginehost::engines::cuda
