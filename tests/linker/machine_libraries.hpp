// The files of this machine that a loader can load.
#pragma once
#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "tests/support/paths.hpp"

namespace enginehost::test {

// Every file with ".so" in its name below /usr/lib, the CUDA toolkits and the engines of this build, and
// every program of /usr/bin; each once, by its real path, sorted.
inline std::vector<std::string> machine_libraries() {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  std::error_code error;
  const auto add_below = [&](const fs::path& folder, bool programs) {
    for (fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error),
         end;
         !error && at != end; at.increment(error)) {
      const std::string name = at->path().filename().native();
      if ((programs || name.find(".so") != std::string::npos) && at->is_regular_file(error) &&
          !at->is_symlink(error))
        files.push_back(at->path().native());
    }
  };
  add_below("/usr/lib", false);
  add_below("/usr/bin", true);
  for (const fs::directory_entry& entry : fs::directory_iterator("/usr/local", error))
    if (entry.path().filename().native().rfind("cuda-", 0) == 0) add_below(entry.path(), false);
  add_below(fs::path(build_path()) / "engines", false);
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace enginehost::test
