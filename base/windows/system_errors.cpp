#include "base/system_errors.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "base/file_calls.hpp"
#include "base/windows/wide.hpp"

namespace enginehost {
namespace {

// The errors that base/windows produces. Their texts are those of Linux, so that reports are the same.
struct KnownError {
  int number;
  const char *name, *text;
};
constexpr KnownError known[] = {
    {EPERM, "EPERM", "Operation not permitted"},
    {ENOENT, "ENOENT", "No such file or directory"},
    {EINTR, "EINTR", "Interrupted system call"},
    {EIO, "EIO", "Input/output error"},
    {E2BIG, "E2BIG", "Argument list too long"},
    {ENOEXEC, "ENOEXEC", "Exec format error"},
    {EBADF, "EBADF", "Bad file descriptor"},
    {EAGAIN, "EAGAIN", "Resource temporarily unavailable"},
    {EWOULDBLOCK, "EWOULDBLOCK", "Resource temporarily unavailable"},
    {ENOMEM, "ENOMEM", "Cannot allocate memory"},
    {EACCES, "EACCES", "Permission denied"},
    {EBUSY, "EBUSY", "Device or resource busy"},
    {EEXIST, "EEXIST", "File exists"},
    {EXDEV, "EXDEV", "Invalid cross-device link"},
    {ENOTDIR, "ENOTDIR", "Not a directory"},
    {EISDIR, "EISDIR", "Is a directory"},
    {EINVAL, "EINVAL", "Invalid argument"},
    {EMFILE, "EMFILE", "Too many open files"},
    {EFBIG, "EFBIG", "File too large"},
    {ENOSPC, "ENOSPC", "No space left on device"},
    {EROFS, "EROFS", "Read-only file system"},
    {EMLINK, "EMLINK", "Too many links"},
    {EPIPE, "EPIPE", "Broken pipe"},
    {ENOSYS, "ENOSYS", "Function not implemented"},
    {ENOTEMPTY, "ENOTEMPTY", "Directory not empty"},
    {ELOOP, "ELOOP", "Too many levels of symbolic links"},
    {ENAMETOOLONG, "ENAMETOOLONG", "File name too long"},
    {EOPNOTSUPP, "EOPNOTSUPP", "Operation not supported"},
    {ETIMEDOUT, "ETIMEDOUT", "Connection timed out"},
    {EDQUOT, "EDQUOT", "Disk quota exceeded"},
    {ESTALE, "ESTALE", "Stale file handle"},
};

const KnownError* find(int error_number) {
  const auto* found = std::find_if(std::begin(known), std::end(known),
                                   [&](const KnownError& one) { return one.number == error_number; });
  return found == std::end(known) ? nullptr : found;
}

}  // namespace

std::string error_name(int error_number) {
  if (const std::uint32_t error = windows::windows_error_in(error_number); error != 0)
    return "Windows error " + std::to_string(error);
  const KnownError* found = find(error_number);
  return found != nullptr ? found->name : std::to_string(error_number);
}

std::string error_text(int error_number) {
  if (const std::uint32_t error = windows::windows_error_in(error_number); error != 0) {
    const std::string said = windows::error_text(error), number = "error " + std::to_string(error);
    return said.empty() ? number : said + " (" + number + ")";
  }
  const KnownError* found = find(error_number);
  return found != nullptr ? found->text : "unknown error";
}

}  // namespace enginehost
