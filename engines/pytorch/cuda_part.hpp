// libtorch's part for NVIDIA devices: a library of its own, which registers its kernels when it is loaded.
#pragma once
#include <string>

namespace enginehost::engines::pytorch {

// Loads libtorch_cuda from beside the libtorch_cpu this plugin runs with, where it lies there; a build for
// the CPU has none. Returns why it could not be loaded, in the loader's words, or "". Idempotent; never
// unloaded. Threads: any.
std::string load_cuda_part();

}  // namespace enginehost::engines::pytorch
