// Tensors on a device that a host can own.
#pragma once
#include "engines/cuda/instance.hpp"

namespace enginehost::engines::cuda {

// Wraps `memory` in a tensor, which frees it when it is released. Uses the type, rank and shape of `like`.
engine_owned_tensor* wrap(Buffer memory, const engine_tensor& like, int device);

}  // namespace enginehost::engines::cuda
