// Tensors on a device, for hosts to hold.
#pragma once
#include "engines/cuda/instance.hpp"

namespace enginehost::engines::cuda {

// A tensor over `memory`, which it keeps and gives back when it is released. The type, rank and shape of
// `like` count.
engine_owned_tensor* wrap(Buffer memory, const engine_tensor& like, int device);

}  // namespace enginehost::engines::cuda
