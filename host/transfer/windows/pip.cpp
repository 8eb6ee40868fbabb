#include "host/transfer/pip.hpp"

#include <system_error>

#include "base/environment.hpp"
#include "base/paths.hpp"

namespace enginehost::transfer {

namespace fs = std::filesystem;

// py is the launcher that Python's installer puts into Windows' folder.
const std::vector<std::vector<std::string>>& pip_commands() {
  static const auto& commands =
      *new std::vector<std::vector<std::string>>{{"py", "-m", "pip"}, {"python", "-m", "pip"}, {"pip"}};
  return commands;
}

fs::path home_folder() { return path_of(environment_variable("USERPROFILE").value_or("")); }

std::optional<fs::path> prefix_of(const fs::path& python) {
  std::error_code error;
  if (environment_variable("PYTHONHOME")) return {};
  const fs::path folder = python.parent_path();
  if (fs::exists(folder / "pyvenv.cfg", error) || fs::exists(folder.parent_path() / "pyvenv.cfg", error))
    return folder.parent_path();
  if (fs::exists(folder / "Lib" / "os.py", error)) return folder;
  return {};
}

}  // namespace enginehost::transfer
