#include <system_error>

#include "host/transfer/pip.hpp"

namespace enginehost::transfer {

namespace fs = std::filesystem;

PipFiles pip_files() {
  PipFiles files;
  files.global = {fs::path("/Library/Application Support/pip") / pip_file_name};
  const fs::path home = home_folder();
  if (home.empty()) return files;
  std::error_code error;
  const fs::path support = home / "Library/Application Support/pip";
  files.user = {home / ".pip" / pip_file_name,
                (fs::is_directory(support, error) ? support : home / ".config/pip") / pip_file_name};
  return files;
}

}  // namespace enginehost::transfer
