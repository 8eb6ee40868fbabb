// The commands that start pip.
#pragma once
#include <string>
#include <vector>

namespace enginehost::transfer {

// Each a command and its first arguments, the most likely first.
const std::vector<std::vector<std::string>>& pip_commands();

}  // namespace enginehost::transfer
