// Stand-in for libcudart: CUDA's runtime library on a machine without an NVIDIA GPU. Parameters and results
// are those of NVIDIA's documentation of the CUDA runtime. Every function answers that there is no device,
// and fills what its caller may read.
//
// table.json says which of these functions the library of a name has; the others are left out.
#include "engines/pytorch/stand_ins/stand_in.h"

// cudaError_t
enum { cuda_success = 0, cuda_error_invalid_value = 1, cuda_error_no_device = 100 };

// sizeof(struct cudaDeviceProp), which only ever changed with the major version.
#if ENGINEHOST_CUDA_MAJOR == 11
enum { size_of_properties = 728 };
#elif ENGINEHOST_CUDA_MAJOR == 13
enum { size_of_properties = 1008 };
#else
#error "the size of struct cudaDeviceProp in this major version of CUDA"
#endif

static int filled_with_zero(int* value, int result) {
  if (value == NULL) return cuda_error_invalid_value;
  *value = 0;
  return result;
}

int cudaDeviceSynchronize(void) { return cuda_error_no_device; }

// "If no driver is installed, then 0 is returned as the driver version."
int cudaDriverGetVersion(int* version) { return filled_with_zero(version, cuda_success); }

int cudaGetDeviceCount(int* count) { return filled_with_zero(count, cuda_error_no_device); }

int cudaGetDeviceProperties(void* properties, int device) {
  if (properties == NULL) return cuda_error_invalid_value;
  fill_with_zeros(properties, size_of_properties);
  return cuda_error_no_device;
}

const char* cudaGetErrorString(int error) {
  switch (error) {
    case cuda_success:
      return "no error";
    case cuda_error_invalid_value:
      return "invalid argument";
    case cuda_error_no_device:
      return "no CUDA-capable device is detected (this build has no CUDA)";
    default:
      return "unrecognized error code (this build has no CUDA)";
  }
}

// 0 is the version of no runtime.
int cudaRuntimeGetVersion(int* version) { return filled_with_zero(version, cuda_success); }
