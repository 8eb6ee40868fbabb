#include "host/transfer/pip.hpp"

namespace enginehost::transfer {

// py is the launcher that Python's installer puts into Windows' folder.
const std::vector<std::vector<std::string>>& pip_commands() {
  static const auto& commands =
      *new std::vector<std::vector<std::string>>{{"py", "-m", "pip"}, {"python", "-m", "pip"}, {"pip"}};
  return commands;
}

}  // namespace enginehost::transfer
