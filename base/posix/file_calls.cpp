#include "base/posix/file_calls.hpp"

namespace enginehost::calls {

// A lock of the open file description (Linux 3.15): other than a POSIX lock it is not lost when the process
// closes another descriptor of the same file, and it also holds against this process.
bool lock_open_file(int file) {
  struct ::flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return ::fcntl(file, F_OFD_SETLK, &whole) == 0;
}

}  // namespace enginehost::calls
