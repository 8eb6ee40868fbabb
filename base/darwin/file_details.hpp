// The macOS counterpart of base/posix/file_details.hpp; see base/file_calls.hpp.
#pragma once
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

// Used here only to open a folder that names are relative to.
#define O_PATH O_SEARCH

namespace enginehost::calls {

// On macOS fsync(2) leaves the bytes in the drive's cache; F_FULLFSYNC does not. Shared file systems do not
// support F_FULLFSYNC and get fsync(2).
inline int fsync(int file) { return ::fcntl(file, F_FULLFSYNC) == 0 ? 0 : ::fsync(file); }
inline int fdatasync(int file) { return fsync(file); }
inline const timespec& modified_time(const struct ::stat& status) { return status.st_mtimespec; }
inline const timespec& changed_time(const struct ::stat& status) { return status.st_ctimespec; }

}  // namespace enginehost::calls
