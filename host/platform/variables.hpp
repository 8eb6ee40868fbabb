// Which variables of the environment change what a loader or a GPU runtime finds.
#pragma once
#include <string_view>

namespace enginehost::platform {

// LD_*, CUDA_*, NVIDIA_* and the like; values of other variables are nobody's business.
bool is_loader_variable(std::string_view name);

}  // namespace enginehost::platform
