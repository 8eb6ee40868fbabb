// libtorch's CUDA library: a separate library, which registers its kernels when it is loaded.
#pragma once
#include <string>

namespace enginehost::engines::pytorch {

// Loads libtorch_cuda from the folder of the libtorch_cpu that this plugin uses, if it is there; a build for
// the CPU has none. Returns the loader's text if that fails, otherwise "". Idempotent; never unloaded.
// Threads: any.
std::string load_cuda_part();

}  // namespace enginehost::engines::pytorch
