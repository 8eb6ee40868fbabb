// Converts between tensors of the plugin ABI and of ATen.
#pragma once
#include <ATen/core/Tensor.h>

#include "engines/pytorch/instance.hpp"

namespace enginehost::engines::pytorch {

// A tensor over the host's own memory, which must outlive it; it is moved to `device` when it is elsewhere.
// Throws a Failure that names `name` for a type or shape libtorch does not have.
at::Tensor borrow(const engine_tensor& tensor, const char* name, engine_instance* engine, engine_call* call);

// A tensor for the host over the memory of `tensor`, which it keeps. The tensor is compact and nothing is
// pending on it. Throws a Failure for an element type the ABI has no name for.
engine_owned_tensor* wrap(at::Tensor tensor, const std::string& name);

}  // namespace enginehost::engines::pytorch
