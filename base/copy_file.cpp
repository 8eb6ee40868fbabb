#include "base/copy_file.hpp"

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "base/file_calls.hpp"
#include "base/file_system.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"

namespace enginehost {
namespace fs = std::filesystem;

// Not std::filesystem::copy_file, which reports EIO for a full disk and does not show which side failed.
std::optional<CopyFailure> copy_bytes(int source, int target) {
  calls::Status status{};
  if (calls::fstat(source, &status) != 0) return CopyFailure{true, errno};
  // SIGXFSZ would end the process, which may be an application's.
  if (static_cast<std::uint64_t>(status.st_size) > file_size_limit()) return CopyFailure{false, EFBIG};
  if (clone_content(target, source)) return std::nullopt;
  std::vector<char> buffer(std::size_t{1} << 20);
  for (;;) {
    const ssize_t got = calls::read(source, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return CopyFailure{true, errno};
    if (got == 0) return std::nullopt;
    for (ssize_t at = 0; at < got;) {
      const ssize_t written = calls::write(target, buffer.data() + at, static_cast<std::size_t>(got - at));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return CopyFailure{false, errno};
      at += written;
    }
  }
}

Result<void> write_copy(const fs::path& from, const fs::path& to, const fs::path& named) {
  TRY_ASSIGN(const FileDescriptor source, open_to_read(from));
  FileDescriptor target(calls::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!target.valid()) return fail(write_failure(errno, named));
  auto failure = copy_bytes(source.get(), target.get());
  if (!failure && calls::close(target.release()) != 0) failure = CopyFailure{false, errno};
  if (!failure) return {};
  target.close();
  calls::unlink(to.c_str());
  if (failure->reading)
    return fail(diagnose_errno("EH-F01", failure->error_number).with("file", path_text(from)));
  Diagnosis why = write_failure(failure->error_number, named);
  calls::Status status{};
  if (why.code == "EH-F17" && calls::fstat(source.get(), &status) == 0)
    why.with("needed", std::to_string(status.st_size));
  return fail(std::move(why));
}

}  // namespace enginehost
