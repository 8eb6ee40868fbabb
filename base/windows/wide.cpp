#include "base/windows/wide.hpp"

#include <algorithm>
#include <cerrno>

#include "base/paths.hpp"
#include "base/windows/file_calls.hpp"
#include "base/windows/system.hpp"

namespace enginehost {
namespace windows {
namespace {

// winerror.h of Microsoft's kit names these; MinGW's does not.
constexpr std::uint32_t virus_infected = 225, disk_quota_exceeded = 1295;
// Above the errno values of every C runtime. The numbers in winerror.h have 16 bits; larger ones are HRESULTs
// and codes of exceptions, which no file or process call sets.
constexpr int kept_from = 0x100000;
constexpr std::uint32_t kept_numbers = 0x10000;

}  // namespace

std::wstring wide(std::string_view utf8) {
  if (utf8.empty()) return {};
  const int size = static_cast<int>(utf8.size());
  std::wstring text(
      static_cast<std::size_t>(::MultiByteToWideChar(CP_UTF8, 0, utf8.data(), size, nullptr, 0)), L'\0');
  ::MultiByteToWideChar(CP_UTF8, 0, utf8.data(), size, text.data(), static_cast<int>(text.size()));
  return text;
}

std::string utf8(std::wstring_view wide) {
  if (wide.empty()) return {};
  const int size = static_cast<int>(wide.size());
  std::string text(static_cast<std::size_t>(
                       ::WideCharToMultiByte(CP_UTF8, 0, wide.data(), size, nullptr, 0, nullptr, nullptr)),
                   '\0');
  ::WideCharToMultiByte(CP_UTF8, 0, wide.data(), size, text.data(), static_cast<int>(text.size()), nullptr,
                        nullptr);
  return text;
}

int errno_of(std::uint32_t error) {
  switch (error) {
    case ERROR_SUCCESS:
      return 0;
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_DRIVE:
    case ERROR_BAD_NETPATH:
    case ERROR_BAD_NET_NAME:
    case ERROR_MOD_NOT_FOUND:
      return ENOENT;
    case ERROR_INVALID_NAME:
    case ERROR_BAD_PATHNAME:
    case ERROR_INVALID_PARAMETER:
    case ERROR_NEGATIVE_SEEK:
      return EINVAL;
    case ERROR_FILENAME_EXCED_RANGE:
      return ENAMETOOLONG;
    case ERROR_TOO_MANY_OPEN_FILES:
      return EMFILE;
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_OUTOFMEMORY:
    case ERROR_COMMITMENT_LIMIT:
      return ENOMEM;
    case ERROR_INVALID_HANDLE:
      return EBADF;
    case ERROR_WRITE_PROTECT:
      return EROFS;
    case ERROR_SHARING_VIOLATION:
    case ERROR_BUSY:
    case ERROR_PIPE_BUSY:
      return EBUSY;
    case ERROR_LOCK_VIOLATION:
    case ERROR_IO_PENDING:
      return EWOULDBLOCK;
    case ERROR_HANDLE_DISK_FULL:
    case ERROR_DISK_FULL:
      return ENOSPC;
    case disk_quota_exceeded:
      return EDQUOT;
    case ERROR_FILE_TOO_LARGE:
      return EFBIG;
    case ERROR_FILE_EXISTS:
    case ERROR_ALREADY_EXISTS:
      return EEXIST;
    case ERROR_NOT_SAME_DEVICE:
      return EXDEV;
    case ERROR_TOO_MANY_LINKS:
      return EMLINK;
    case ERROR_DIRECTORY:
      return ENOTDIR;
    case ERROR_DIR_NOT_EMPTY:
      return ENOTEMPTY;
    case ERROR_BROKEN_PIPE:
    case ERROR_NO_DATA:
      return EPIPE;
    case ERROR_NOT_SUPPORTED:
    case ERROR_INVALID_FUNCTION:
    case ERROR_CALL_NOT_IMPLEMENTED:
      return EOPNOTSUPP;
    case ERROR_PRIVILEGE_NOT_HELD:
      return EPERM;
    case ERROR_BAD_EXE_FORMAT:
    case ERROR_EXE_MACHINE_TYPE_MISMATCH:
      return ENOEXEC;
    case ERROR_CANT_RESOLVE_FILENAME:
      return ELOOP;
    case ERROR_ACCESS_DENIED:
    case ERROR_CANNOT_MAKE:
    case ERROR_CURRENT_DIRECTORY:
    case ERROR_DELETE_PENDING:
    case virus_infected:
      return EACCES;
    default:
      return error < kept_numbers ? kept_from + static_cast<int>(error) : EIO;
  }
}

std::uint32_t windows_error_in(int error_number) {
  const bool kept = error_number > kept_from && error_number < kept_from + static_cast<int>(kept_numbers);
  return kept ? static_cast<std::uint32_t>(error_number - kept_from) : 0;
}

std::string error_text(std::uint32_t error) {
  wchar_t text[512];
  const DWORD length = ::FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, nullptr,
                                        error, MAKELANGID(LANG_ENGLISH, SUBLANG_ENGLISH_US), text,
                                        static_cast<DWORD>(std::size(text)), nullptr);
  std::string said = utf8({text, length});
  while (!said.empty() && (said.back() == '\n' || said.back() == '\r' || said.back() == ' ')) said.pop_back();
  return said;
}

std::wstring extended_final_path(void* handle) {
  std::wstring path(1024, L'\0');
  for (;;) {
    const DWORD length = ::GetFinalPathNameByHandleW(handle, path.data(), static_cast<DWORD>(path.size()),
                                                     FILE_NAME_NORMALIZED | VOLUME_NAME_DOS);
    const bool fits = length < path.size();
    path.resize(fits ? length : length + 1);
    if (fits) return path;
  }
}

std::string final_path(void* handle) { return without_prefix(utf8(extended_final_path(handle))); }

std::string without_prefix(const std::string& path) {
  if (path.starts_with("\\\\?\\UNC\\")) return "\\" + path.substr(7);
  return path.starts_with("\\\\?\\") ? path.substr(4) : path;
}

}  // namespace windows

std::filesystem::path paths_inside::from_utf8(std::string_view text, wchar_t) {
  return std::filesystem::path(windows::wide(text));
}

std::string paths_inside::as_utf8(const std::wstring& native) {
  std::string text = windows::utf8(native);
  std::replace(text.begin(), text.end(), '/', '\\');
  return text;
}

std::string paths_inside::with_slashes(const std::wstring& native) {
  std::string text = windows::utf8(native);
  std::replace(text.begin(), text.end(), '\\', '/');
  return text;
}

}  // namespace enginehost
