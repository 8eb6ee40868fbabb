#include "base/environment.hpp"
#include "base/text.hpp"
#include "host/transfer/pip.hpp"

namespace enginehost::transfer {

namespace fs = std::filesystem;

PipFiles pip_files() {
  PipFiles files;
  const fs::path home = home_folder();
  const auto value = [](const char* name, const std::string& otherwise) {
    const std::string text = environment_variable(name).value_or("");
    return trim(text).empty() ? otherwise : text;
  };
  for (const std::string& folder : split(value("XDG_CONFIG_DIRS", "/etc/xdg"), ':')) {
    const bool at_home = folder == "~" || folder.starts_with("~/");
    files.global.push_back((at_home ? home / folder.substr(folder.size() > 1 ? 2 : 1) : fs::path(folder)) /
                           "pip" / pip_file_name);
  }
  files.global.push_back(fs::path("/etc") / pip_file_name);
  files.user = {home / ".pip" / pip_file_name,
                fs::path(value("XDG_CONFIG_HOME", (home / ".config").native())) / "pip" / pip_file_name};
  for (auto* list : {&files.global, &files.user})
    std::erase_if(*list, [](const fs::path& file) { return !file.is_absolute(); });
  return files;
}

}  // namespace enginehost::transfer
