#include "base/copy_file.hpp"

#include <cerrno>
#include <vector>

#include "base/file_calls.hpp"
#include "base/file_system.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"

namespace enginehost {
namespace {

namespace fs = std::filesystem;

Diagnosis write_failure(int error_number, const fs::path& file) {
  return std::move(diagnose_errno(code_of_write_error(error_number), error_number)
                       .with("file", path_text(file))
                       .with("folder", path_text(file.parent_path())));
}

// Not std::filesystem::copy_file, which says EIO where the disk is full, and not which of the two failed.
Result<void> copy_bytes(const fs::path& from, int source, int target, const fs::path& named) {
  if (clone_content(target, source)) return {};
  std::vector<char> buffer(std::size_t{1} << 20);
  for (;;) {
    const ssize_t got = calls::read(source, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(diagnose_errno("EH-F01", errno).with("file", path_text(from)));
    if (got == 0) return {};
    for (ssize_t at = 0; at < got;) {
      const ssize_t written = calls::write(target, buffer.data() + at, static_cast<std::size_t>(got - at));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return fail(write_failure(errno, named));
      at += written;
    }
  }
}

}  // namespace

Result<void> write_copy(const fs::path& from, const fs::path& to, const fs::path& named) {
  TRY_ASSIGN(const FileDescriptor source, open_to_read(from));
  FileDescriptor target(calls::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!target.valid()) return fail(write_failure(errno, named));
  auto copied = copy_bytes(from, source.get(), target.get(), named);
  if (copied && calls::close(target.release()) != 0) copied = fail(write_failure(errno, named));
  if (!copied) {
    target.close();
    calls::unlink(to.c_str());
  }
  return copied;
}

}  // namespace enginehost
