// macOS's way of what base/posix/file_details.hpp has; see base/file_calls.hpp.
#pragma once
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

// For what it is used for here: a folder to name files from.
#define O_PATH O_SEARCH

namespace enginehost::calls {

// fsync(2) of macOS leaves the bytes in the drive's own memory; this does not. Where a file system does not
// know it (shared ones), fsync is what there is.
inline int fsync(int file) { return ::fcntl(file, F_FULLFSYNC) == 0 ? 0 : ::fsync(file); }
inline int fdatasync(int file) { return fsync(file); }
inline const timespec& modified_time(const struct ::stat& status) { return status.st_mtimespec; }
inline const timespec& changed_time(const struct ::stat& status) { return status.st_ctimespec; }

}  // namespace enginehost::calls
