// The bytes of a file once more.
#pragma once
#include <filesystem>

#include "base/result.hpp"

namespace enginehost {

// Makes the new file `to` with the bytes of `from`, mode 0644 modified by umask; it shares them where the
// file system can. Not durable. `to` is absent after a failure: EH-F01 where `from` cannot be read, else as
// write_file, of the file `named` (for who gives it that name later). Any thread.
Result<void> write_copy(const std::filesystem::path& from, const std::filesystem::path& to,
                        const std::filesystem::path& named);
inline Result<void> write_copy(const std::filesystem::path& from, const std::filesystem::path& to) {
  return write_copy(from, to, to);
}

}  // namespace enginehost
