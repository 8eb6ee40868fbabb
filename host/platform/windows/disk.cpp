#include "base/file_calls.hpp"
#include "base/file_system.hpp"
#include "base/paths.hpp"
#include "host/platform/parts.hpp"

namespace enginehost::platform {

Fact<Disk> detect_disk(const std::filesystem::path& cache_folder) {
  if (cache_folder.empty()) return Fact<Disk>::unknown("no cache folder was named");
  std::filesystem::path folder = cache_folder;
  // The cache may not exist yet; it will lie on the disk of its nearest existing parent.
  while (calls::access(folder, F_OK) != 0 && folder.has_relative_path()) folder = folder.parent_path();
  const auto space = space_below(folder);
  if (!space) return Fact<Disk>::unknown("GetDiskFreeSpaceEx of " + path_text(folder) + " failed");
  Disk disk;
  disk.folder = path_text(cache_folder);
  disk.total = space->total;
  disk.free = space->free;
  disk.noexec = forbids_execution(folder);
  return Fact<Disk>::known(std::move(disk), "GetDiskFreeSpaceEx of " + path_text(folder));
}

}  // namespace enginehost::platform
