#include "cache/part_lock.hpp"

#include <fcntl.h>

namespace enginehost::cache::inside {
namespace {

// An open file description lock, which the closing of another descriptor does not release (a POSIX lock
// would).
bool set(int file, short type, calls::Offset at, calls::Offset size) {
  struct ::flock part {};
  part.l_type = type;
  part.l_whence = SEEK_SET;
  part.l_start = at;
  part.l_len = size;
  return ::fcntl(file, F_OFD_SETLK, &part) == 0;
}

}  // namespace

bool lock_part(int file, calls::Offset at, calls::Offset size) { return set(file, F_WRLCK, at, size); }
void unlock_part(int file, calls::Offset at, calls::Offset size) {
  static_cast<void>(set(file, F_UNLCK, at, size));
}

}  // namespace enginehost::cache::inside
