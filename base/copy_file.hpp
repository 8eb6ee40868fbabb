// Copies of a file's content.
#pragma once
#include <filesystem>
#include <optional>

#include "base/result.hpp"

namespace enginehost {

struct CopyFailure {
  bool reading = false;  // false: writing failed
  int error_number = 0;
};

// Copies the bytes of `source` into the empty file `target`, both open. The two share blocks where the file system
// supports it. A file larger than this process may write is not begun (EFBIG). Returns nothing on success. Thread
// safety: any thread.
std::optional<CopyFailure> copy_bytes(int source, int target);

// Creates the file `to` with the bytes of `from`, mode 0644 modified by umask. The two share blocks where the file
// system supports it. The copy is not durable; after a failure `to` is absent. Errors: EH-F01 if `from` cannot be read,
// else those of write_file. They name the file `named`, for callers that rename it later. Thread safety: any thread.
Result<void> write_copy(const std::filesystem::path& from, const std::filesystem::path& to,
                        const std::filesystem::path& named);
inline Result<void> write_copy(const std::filesystem::path& from, const std::filesystem::path& to) {
  return write_copy(from, to, to);
}

}  // namespace enginehost
