#include "host/transfer/pip.hpp"

namespace enginehost::transfer {

// py is the launcher that Python's installer puts into Windows' folder.
const std::vector<std::vector<std::string>>& pip_commands() {
  static const std::vector<std::vector<std::string>> commands{
      {"py", "-m", "pip"}, {"python", "-m", "pip"}, {"pip"}};
  return commands;
}

}  // namespace enginehost::transfer
