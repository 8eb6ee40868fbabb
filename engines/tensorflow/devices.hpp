// The devices that TensorFlow computes on.
#pragma once
#include <string>

#include "engines/support/cuda_devices.hpp"
#include "engines/tensorflow/runtime.hpp"

namespace enginehost::engines::tensorflow {

// Returns the CPU of that session, and the CUDA devices of the driver if the library has code for GPUs. No
// GPU is opened.
Devices list_devices(const Session& on_cpu);

// Opens libraries of the installed build if the driver has a device. TensorFlow opens them by name while it
// is loaded and later, and its releases up to 2.10 have no search path that leads to them. `paths` are view
// paths with commas between them, or nullptr.
void open_cuda_libraries(const std::string& root, const char* paths, engine_call* call);

}  // namespace enginehost::engines::tensorflow
