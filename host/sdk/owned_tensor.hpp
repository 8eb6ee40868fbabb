// Tensors that own their memory, in the form that applications get.
#pragma once
#include <enginehost/engine_plugin.h>

#include <memory>

#include "host/load/in_process/tensors.hpp"

namespace enginehost::sdk {

// Returns an output as an owned tensor. Copies nothing: a plugin's owned tensor is passed on, and other
// memory is held by the tensor. Throws std::bad_alloc.
engine_owned_tensor* own_tensor(std::unique_ptr<load::Output> output);

}  // namespace enginehost::sdk
