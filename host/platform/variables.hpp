// Which variables of the environment change what a loader or a GPU runtime finds.
#pragma once
#include <string_view>

#include "host/platform/platform.hpp"

namespace enginehost::platform {

// LD_*, CUDA_*, NVIDIA_* and the like; values of other variables are nobody's business.
bool is_loader_variable(std::string_view name);

// All variables of this process in the order it holds them; on Windows, where case does not count, with their
// names in upper case. Any thread, as long as nobody changes the environment.
Variables process_variables();

}  // namespace enginehost::platform
