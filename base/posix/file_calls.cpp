#include "base/posix/file_calls.hpp"

#include "base/files.hpp"

namespace enginehost::calls {
namespace {

// An open file description lock (Linux 3.15). Unlike a POSIX lock it survives the closing of other
// descriptors of the same file, and it also works within this process.
bool set_lock(int file, short type, off_t at, off_t size) {
  struct ::flock part {};
  part.l_type = type;
  part.l_whence = SEEK_SET;
  part.l_start = at;
  part.l_len = size;
  return ::fcntl(file, F_OFD_SETLK, &part) == 0;
}

}  // namespace

bool lock_part(int file, off_t at, off_t size) { return set_lock(file, F_WRLCK, at, size); }
void unlock_part(int file, off_t at, off_t size) { static_cast<void>(set_lock(file, F_UNLCK, at, size)); }

}  // namespace enginehost::calls

namespace enginehost {

void remove_tree(const std::filesystem::path& folder, std::error_code& error) {
  std::filesystem::remove_all(folder, error);
}

}  // namespace enginehost
