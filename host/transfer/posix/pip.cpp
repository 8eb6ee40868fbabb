#include "host/transfer/pip.hpp"

#include <unistd.h>

#include <system_error>

#include "base/environment.hpp"
#include "base/posix/local_accounts.hpp"

namespace enginehost::transfer {

namespace fs = std::filesystem;

const std::vector<std::vector<std::string>>& pip_commands() {
  static const auto& commands =
      *new std::vector<std::vector<std::string>>{{"python3", "-m", "pip"}, {"pip3"}, {"pip"}};
  return commands;
}

fs::path home_folder() {
  if (const fs::path home = environment_variable("HOME").value_or(""); home.is_absolute()) return home;
  const auto user = local_user(::geteuid());
  return user ? fs::path(user->home) : fs::path();
}

// Python takes the program's own name for pyvenv.cfg, and the file behind links for lib/python3.N/os.py.
std::optional<fs::path> prefix_of(const fs::path& python) {
  std::error_code error;
  if (environment_variable("PYTHONHOME")) return {};
  const fs::path folder = python.parent_path();
  if (fs::exists(folder / "pyvenv.cfg", error) || fs::exists(folder.parent_path() / "pyvenv.cfg", error))
    return folder.parent_path();
  for (fs::path at = fs::canonical(python, error).parent_path(); at.has_relative_path();
       at = at.parent_path())
    for (const char* library : {"lib", "lib64"})
      for (fs::directory_iterator entry(at / library, error), end; !error && entry != end;
           entry.increment(error))
        if (entry->path().filename().native().starts_with("python3") &&
            fs::exists(entry->path() / "os.py", error))
          return at;
  return {};
}

}  // namespace enginehost::transfer
