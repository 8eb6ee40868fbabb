#include "base/posix/file_calls.hpp"

#include "base/files.hpp"

namespace enginehost::calls {

// An open file description lock (Linux 3.15). Unlike a POSIX lock it survives the closing of other
// descriptors of the same file, and it also works within this process.
bool lock_open_file(int file) {
  struct ::flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return ::fcntl(file, F_OFD_SETLK, &whole) == 0;
}

}  // namespace enginehost::calls

namespace enginehost {

void remove_tree(const std::filesystem::path& folder, std::error_code& error) {
  std::filesystem::remove_all(folder, error);
}

}  // namespace enginehost
