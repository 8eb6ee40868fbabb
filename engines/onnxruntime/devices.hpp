// The devices of a loaded ONNX Runtime: the CPU, and CUDA devices if its CUDA provider lies beside it and the
// driver lists some.
#pragma once
#include <enginehost/engine_plugin.h>

#include <string>

#include "engines/onnxruntime/failure.hpp"
#include "engines/support/cuda_devices.hpp"

namespace enginehost::engines::onnxruntime {

// Loads the driver and queries it; loads nothing else of CUDA. `library` is the runtime's own file.
Devices list_devices(const std::string& library);

extern const engine_device_v1 device_table;

}  // namespace enginehost::engines::onnxruntime
