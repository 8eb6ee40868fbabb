#include "base/remove_tree.hpp"

#include <cerrno>
#include <vector>

#include "base/file_calls.hpp"

namespace enginehost {

namespace fs = std::filesystem;

void remove_tree(const fs::path& folder, std::error_code& error) {
  error.clear();
  const auto remove = [&](const fs::path& path) {
    std::error_code unknown;
    const bool is_folder = fs::is_directory(fs::symlink_status(path, unknown));
    // Not fs::remove, which does not remove read-only files.
    if ((is_folder ? calls::rmdir(path) : calls::unlink(path)) != 0 && errno != ENOENT && !error)
      error.assign(errno, std::generic_category());
  };
  std::error_code reading;
  std::vector<fs::path> inside;  // folders before their content
  if (fs::is_directory(fs::symlink_status(folder, reading)))
    for (fs::recursive_directory_iterator at(folder, reading), end; !reading && at != end;
         at.increment(reading))
      inside.push_back(at->path());
  for (auto path = inside.rbegin(); path != inside.rend(); ++path) remove(*path);
  remove(folder);
}

}  // namespace enginehost
