#include "tools/publish/replace_folder.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>

namespace enginehost::publish {

#ifdef __APPLE__

// Syncs the whole volume at once.
bool write_out_below(const std::filesystem::path& folder) {
  return ::sync_volume_np(folder.c_str(), SYNC_VOLUME_FULLSYNC | SYNC_VOLUME_WAIT) == 0;
}

bool exchange_names(const std::filesystem::path& one, const std::filesystem::path& other) {
  return ::renamex_np(one.c_str(), other.c_str(), RENAME_SWAP) == 0;
}

#else

// Syncs the whole file system, which is faster than syncing file by file.
bool write_out_below(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const int result = ::syncfs(descriptor);
  const int why = errno;
  ::close(descriptor);
  errno = why;
  return result == 0;
}

bool exchange_names(const std::filesystem::path& one, const std::filesystem::path& other) {
  return ::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0;
}

#endif

}  // namespace enginehost::publish
