#include <sys/statvfs.h>

#include <cerrno>
#include <cstring>

#include "host/platform/parts.hpp"

namespace enginehost::platform {

Fact<Disk> detect_disk(const std::filesystem::path& cache_folder) {
  if (cache_folder.empty()) return Fact<Disk>::unknown("no cache folder was named");
  std::filesystem::path folder = cache_folder;
  struct statvfs status {};
  // The cache may not exist yet; it will lie on the disk of its nearest existing parent.
  while (::statvfs(folder.c_str(), &status) != 0) {
    if (errno != ENOENT || !folder.has_relative_path())
      return Fact<Disk>::unknown("statvfs of " + folder.native() + ": " + std::strerror(errno));
    folder = folder.parent_path();
  }
  Disk disk;
  disk.folder = cache_folder.native();
  disk.total = static_cast<std::uint64_t>(status.f_blocks) * status.f_frsize;
  disk.free = static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize;
  disk.noexec = (status.f_flag & ST_NOEXEC) != 0;
  return Fact<Disk>::known(std::move(disk), "statvfs of " + folder.native());
}

}  // namespace enginehost::platform
