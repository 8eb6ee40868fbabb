// File calls whose names differ between POSIX systems; see base/file_calls.hpp.
#pragma once
#include <sys/stat.h>
#include <unistd.h>

namespace enginehost::calls {

inline int fsync(int file) { return ::fsync(file); }
inline int fdatasync(int file) { return ::fdatasync(file); }
inline const timespec& modified_time(const struct ::stat& status) { return status.st_mtim; }
inline const timespec& changed_time(const struct ::stat& status) { return status.st_ctim; }

}  // namespace enginehost::calls
