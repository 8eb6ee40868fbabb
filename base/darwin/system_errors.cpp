#include "base/system_errors.hpp"

#include <stdio.h>

#include <cerrno>

namespace enginehost {
namespace {

struct KnownError {
  int number;
  const char* name;
};
// macOS has no call that returns the names.
constexpr KnownError known[] = {
    {EPERM, "EPERM"},
    {ENOENT, "ENOENT"},
    {ESRCH, "ESRCH"},
    {EINTR, "EINTR"},
    {EIO, "EIO"},
    {ENXIO, "ENXIO"},
    {E2BIG, "E2BIG"},
    {ENOEXEC, "ENOEXEC"},
    {EBADF, "EBADF"},
    {ECHILD, "ECHILD"},
    {EDEADLK, "EDEADLK"},
    {ENOMEM, "ENOMEM"},
    {EACCES, "EACCES"},
    {EFAULT, "EFAULT"},
    {ENOTBLK, "ENOTBLK"},
    {EBUSY, "EBUSY"},
    {EEXIST, "EEXIST"},
    {EXDEV, "EXDEV"},
    {ENODEV, "ENODEV"},
    {ENOTDIR, "ENOTDIR"},
    {EISDIR, "EISDIR"},
    {EINVAL, "EINVAL"},
    {ENFILE, "ENFILE"},
    {EMFILE, "EMFILE"},
    {ENOTTY, "ENOTTY"},
    {ETXTBSY, "ETXTBSY"},
    {EFBIG, "EFBIG"},
    {ENOSPC, "ENOSPC"},
    {ESPIPE, "ESPIPE"},
    {EROFS, "EROFS"},
    {EMLINK, "EMLINK"},
    {EPIPE, "EPIPE"},
    {EDOM, "EDOM"},
    {ERANGE, "ERANGE"},
    {EAGAIN, "EAGAIN"},
    {ENOTSUP, "ENOTSUP"},
    {EOPNOTSUPP, "EOPNOTSUPP"},
    {ELOOP, "ELOOP"},
    {ENAMETOOLONG, "ENAMETOOLONG"},
    {ENOTEMPTY, "ENOTEMPTY"},
    {EUSERS, "EUSERS"},
    {EDQUOT, "EDQUOT"},
    {ESTALE, "ESTALE"},
    {ENOLCK, "ENOLCK"},
    {ENOSYS, "ENOSYS"},
    {EOVERFLOW, "EOVERFLOW"},
    {EBADEXEC, "EBADEXEC"},
    {EBADARCH, "EBADARCH"},
    {ESHLIBVERS, "ESHLIBVERS"},
    {EBADMACHO, "EBADMACHO"},
    {ECANCELED, "ECANCELED"},
    {EILSEQ, "EILSEQ"},
    {ENOATTR, "ENOATTR"},
    {ETIMEDOUT, "ETIMEDOUT"},
    {ECONNREFUSED, "ECONNREFUSED"},
    {ECONNRESET, "ECONNRESET"},
    {EHOSTUNREACH, "EHOSTUNREACH"},
    {ENETUNREACH, "ENETUNREACH"},
    {EADDRINUSE, "EADDRINUSE"},
    {EPROTO, "EPROTO"},
    {EAUTH, "EAUTH"},
    {ENEEDAUTH, "ENEEDAUTH"},
};

}  // namespace

std::string error_name(int error_number) {
  for (const KnownError& one : known)
    if (one.number == error_number) return one.name;
  return std::to_string(error_number);
}

// Not strerror, which uses the language of the locale.
std::string error_text(int error_number) {
  if (error_number < 0 || error_number >= sys_nerr) return "unknown error";
  return sys_errlist[error_number];
}

}  // namespace enginehost
