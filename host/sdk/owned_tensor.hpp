// A tensor in memory of ours, in the shape in which applications own one.
#pragma once
#include <enginehost/engine_plugin.h>

#include <memory>

#include "host/load/in_process/results.hpp"

namespace enginehost::sdk {

// An output in memory of ours as a tensor that carries it; the plugin's own ones carry themselves.
// std::bad_alloc.
engine_owned_tensor* own_tensor(std::unique_ptr<load::Output> output);

}  // namespace enginehost::sdk
