#include <cerrno>

#include "base/file_calls.hpp"
#include "base/file_system.hpp"
#include "base/paths.hpp"
#include "base/system_errors.hpp"
#include "host/platform/parts.hpp"

namespace enginehost::platform {

Fact<Disk> detect_disk(const std::filesystem::path& cache_folder) {
  if (cache_folder.empty()) return Fact<Disk>::unknown("no cache folder was named");
  std::filesystem::path folder = cache_folder;
  calls::Status status{};
  // The cache may not exist yet; it will lie on the disk of its nearest existing parent.
  while (calls::stat(folder, &status) != 0) {
    if (errno != ENOENT || !folder.has_relative_path())
      return Fact<Disk>::unknown("stat of " + path_text(folder) + ": " + error_text(errno));
    folder = folder.parent_path();
  }
  const auto space = space_below(folder);
  if (!space) return Fact<Disk>::unknown("statfs of " + path_text(folder) + ": " + error_text(errno));
  return Fact<Disk>::known({path_text(cache_folder), space->total, space->free, forbids_execution(folder)},
                           "statfs of " + path_text(folder));
}

}  // namespace enginehost::platform
