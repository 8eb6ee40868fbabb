#include "host/transfer/pip.hpp"

namespace enginehost::transfer {

const std::vector<std::vector<std::string>>& pip_commands() {
  static const auto& commands =
      *new std::vector<std::vector<std::string>>{{"python3", "-m", "pip"}, {"pip3"}, {"pip"}};
  return commands;
}

}  // namespace enginehost::transfer
