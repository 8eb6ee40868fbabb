// The bytes of a file once more.
#pragma once
#include <filesystem>
#include <optional>

#include "base/result.hpp"

namespace enginehost {

struct CopyFailure {
  bool reading = false;  // else writing failed
  int error_number = 0;
};

// Gives the empty file `target` the bytes of `source`, both open; it shares them where the file system can.
// What is larger than this process may write is not begun (EFBIG). Nothing when all went well. Any thread.
std::optional<CopyFailure> copy_bytes(int source, int target);

// Makes the new file `to` with the bytes of `from`, mode 0644 modified by umask; it shares them where the
// file system can. Not durable. `to` is absent after a failure: EH-F01 where `from` cannot be read, else as
// write_file, of the file `named` (for who gives it that name later). Any thread.
Result<void> write_copy(const std::filesystem::path& from, const std::filesystem::path& to,
                        const std::filesystem::path& named);
inline Result<void> write_copy(const std::filesystem::path& from, const std::filesystem::path& to) {
  return write_copy(from, to, to);
}

}  // namespace enginehost
