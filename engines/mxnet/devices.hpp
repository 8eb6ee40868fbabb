// The devices that MXNet computes on.
#pragma once
#include "engines/mxnet/runtime.hpp"
#include "engines/support/cuda_devices.hpp"

namespace enginehost::engines::mxnet {

// Returns the CPU, and the CUDA devices of the driver that MXNet counts if the library has code for CUDA.
Devices list_devices(const Runtime& runtime);

}  // namespace enginehost::engines::mxnet
