#include "base/system_errors.hpp"

#include <cerrno>
#include <cstring>

#ifdef __APPLE__
#include <stdio.h>
#else
#include <locale.h>
#endif

namespace enginehost {
namespace {

struct KnownError {
  int number;
  const char* name;
};
// macOS has no call that returns the names, and glibc has one since release 2.32.
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
    {EAGAIN, "EAGAIN"},
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
    {EDEADLK, "EDEADLK"},
    {ENAMETOOLONG, "ENAMETOOLONG"},
    {ENOLCK, "ENOLCK"},
    {ENOSYS, "ENOSYS"},
    {ENOTEMPTY, "ENOTEMPTY"},
    {ELOOP, "ELOOP"},
    {EBADMSG, "EBADMSG"},
    {EOVERFLOW, "EOVERFLOW"},
    {EILSEQ, "EILSEQ"},
    {EUSERS, "EUSERS"},
    {ENOTSOCK, "ENOTSOCK"},
    {EDESTADDRREQ, "EDESTADDRREQ"},
    {EMSGSIZE, "EMSGSIZE"},
    {EPROTO, "EPROTO"},
    {EPROTOTYPE, "EPROTOTYPE"},
    {ENOPROTOOPT, "ENOPROTOOPT"},
    {EPROTONOSUPPORT, "EPROTONOSUPPORT"},
    {ENOTSUP, "ENOTSUP"},
    {EAFNOSUPPORT, "EAFNOSUPPORT"},
    {EADDRINUSE, "EADDRINUSE"},
    {EADDRNOTAVAIL, "EADDRNOTAVAIL"},
    {ENETDOWN, "ENETDOWN"},
    {ENETUNREACH, "ENETUNREACH"},
    {ENETRESET, "ENETRESET"},
    {ECONNABORTED, "ECONNABORTED"},
    {ECONNRESET, "ECONNRESET"},
    {ENOBUFS, "ENOBUFS"},
    {EISCONN, "EISCONN"},
    {ENOTCONN, "ENOTCONN"},
    {ESHUTDOWN, "ESHUTDOWN"},
    {ETIMEDOUT, "ETIMEDOUT"},
    {ECONNREFUSED, "ECONNREFUSED"},
    {EHOSTDOWN, "EHOSTDOWN"},
    {EHOSTUNREACH, "EHOSTUNREACH"},
    {EALREADY, "EALREADY"},
    {EINPROGRESS, "EINPROGRESS"},
    {ESTALE, "ESTALE"},
    {EREMOTE, "EREMOTE"},
    {EDQUOT, "EDQUOT"},
    {ECANCELED, "ECANCELED"},
#ifdef __linux__
    {ENOMEDIUM, "ENOMEDIUM"},
    {EMEDIUMTYPE, "EMEDIUMTYPE"},
    {EREMOTEIO, "EREMOTEIO"},
    {EUCLEAN, "EUCLEAN"},
    {ELIBACC, "ELIBACC"},
    {ELIBBAD, "ELIBBAD"},
    {ELIBEXEC, "ELIBEXEC"},
    {ENOKEY, "ENOKEY"},
    {EKEYEXPIRED, "EKEYEXPIRED"},
    {EKEYREJECTED, "EKEYREJECTED"},
#elif defined(__APPLE__)
    {EBADEXEC, "EBADEXEC"},
    {EBADARCH, "EBADARCH"},
    {ESHLIBVERS, "ESHLIBVERS"},
    {EBADMACHO, "EBADMACHO"},
    {ENOATTR, "ENOATTR"},
    {EAUTH, "EAUTH"},
    {ENEEDAUTH, "ENEEDAUTH"},
#endif
};

}  // namespace

std::string error_name(int error_number) {
  for (const KnownError& one : known)
    if (one.number == error_number) return one.name;
  return std::to_string(error_number);
}

// Not strerror, which uses the language of the locale.
std::string error_text(int error_number) {
#ifdef __APPLE__
  if (error_number < 0 || error_number >= sys_nerr) return "unknown error";
  return sys_errlist[error_number];
#else
  static const locale_t in_english = ::newlocale(LC_ALL_MASK, "C", nullptr);
  const std::string text = ::strerror_l(error_number, in_english);
  return text.starts_with("Unknown error") ? "unknown error" : text;
#endif
}

}  // namespace enginehost
