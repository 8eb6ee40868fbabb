#include "tests/support/holes.hpp"

#include <fcntl.h>

#include "base/file_calls.hpp"
#include "base/files.hpp"

namespace enginehost::test {

bool punch_hole(const std::filesystem::path& file, std::uint64_t from, std::uint64_t size) {
  const FileDescriptor opened(calls::open(file, O_WRONLY | O_CLOEXEC));
  return opened.valid() && ::fallocate(opened.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                       static_cast<off_t>(from), static_cast<off_t>(size)) == 0;
}

}  // namespace enginehost::test
