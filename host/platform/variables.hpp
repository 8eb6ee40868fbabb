// The environment variables that change what a loader or a GPU runtime finds.
#pragma once
#include <string_view>

#include "host/platform/platform.hpp"

namespace enginehost::platform {

// Returns true for LD_*, CUDA_*, NVIDIA_* and the like. Values of other variables are never read, because
// they are private.
bool is_loader_variable(std::string_view name);

// Returns all variables of this process in their order. On Windows, where case does not matter, names are in
// upper case. Any thread, as long as no thread changes the environment.
Variables process_variables();

}  // namespace enginehost::platform
