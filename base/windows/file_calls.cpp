#include "base/windows/file_calls.hpp"

#include <algorithm>
#include <cstring>

#include "base/files.hpp"
#include "base/windows/system.hpp"
#include "base/windows/wide.hpp"

namespace enginehost::calls {
namespace {

using windows::errno_of;
using windows::Handle;

// Long enough for a virus scan of a small file, short enough for a user.
constexpr int tries = 140, short_tries = 100;
void wait_before_try(int number) { ::Sleep(number < short_tries ? 2 : 20); }
constexpr std::int64_t from_1601_to_1970 = 116'444'736'000'000'000;  // in units of 100 ns
constexpr DWORD every_sharing = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

int failed(DWORD error) {
  errno = errno_of(error);
  return -1;
}
int failed() { return failed(::GetLastError()); }

HANDLE handle_of(int file) { return reinterpret_cast<HANDLE>(::_get_osfhandle(file)); }

// Programs that open a file for a short time cause one of these errors.
bool passes(DWORD error) { return error == ERROR_SHARING_VIOLATION || error == ERROR_ACCESS_DENIED; }

bool is_link(DWORD tag) { return tag == IO_REPARSE_TAG_SYMLINK || tag == IO_REPARSE_TAG_MOUNT_POINT; }

bool report(HANDLE handle, Status& status) {
  BY_HANDLE_FILE_INFORMATION found{};
  if (::GetFileInformationByHandle(handle, &found) == 0) {
    const DWORD type = ::GetFileType(handle);
    if (type != FILE_TYPE_CHAR && type != FILE_TYPE_PIPE) return false;
    status = {};
    status.st_mode = type == FILE_TYPE_CHAR ? S_IFCHR | 0666 : S_IFIFO | 0600;
    return true;
  }
  FILE_ATTRIBUTE_TAG_INFO tag{};
  const bool link = (found.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0 &&
                    ::GetFileInformationByHandleEx(handle, FileAttributeTagInfo, &tag, sizeof tag) != 0 &&
                    is_link(tag.ReparseTag);
  const bool folder = (found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
  const unsigned write = (found.dwFileAttributes & FILE_ATTRIBUTE_READONLY) != 0 && !folder ? 0 : 0200;
  const auto joined = [](DWORD high, DWORD low) { return static_cast<std::uint64_t>(high) << 32 | low; };
  status.st_dev = found.dwVolumeSerialNumber;
  status.st_ino = joined(found.nFileIndexHigh, found.nFileIndexLow);
  status.st_nlink = found.nNumberOfLinks;
  status.st_mode = (link ? S_IFLNK : folder ? S_IFDIR : S_IFREG) | 0555u | write;
  status.st_size = folder ? 0 : static_cast<std::int64_t>(joined(found.nFileSizeHigh, found.nFileSizeLow));
  status.st_blocks = (status.st_size + 511) / 512;
  const auto since_1970 = [](std::int64_t since_1601) { return (since_1601 - from_1601_to_1970) * 100; };
  status.content_ns = since_1970(static_cast<std::int64_t>(
      joined(found.ftLastWriteTime.dwHighDateTime, found.ftLastWriteTime.dwLowDateTime)));
  // FAT has no time for other changes.
  FILE_BASIC_INFO times{};
  status.any_ns = ::GetFileInformationByHandleEx(handle, FileBasicInfo, &times, sizeof times) != 0 &&
                          times.ChangeTime.QuadPart != 0
                      ? since_1970(times.ChangeTime.QuadPart)
                      : status.content_ns;
  status.st_mtime = status.content_ns / 1'000'000'000;
  status.st_ctime = status.any_ns / 1'000'000'000;
  return true;
}

// Returns whether a parent in the path is no folder: ENOTDIR elsewhere, "path not found" on Windows.
bool goes_through_a_file(const std::wstring& path) {
  for (std::size_t end = path.find_last_of(L"\\/"); end != std::wstring::npos && end > 3;
       end = path.find_last_of(L"\\/", end - 1)) {
    const DWORD attributes = ::GetFileAttributesW(path.substr(0, end).c_str());
    if (attributes != INVALID_FILE_ATTRIBUTES) return (attributes & FILE_ATTRIBUTE_DIRECTORY) == 0;
  }
  return false;
}

int failed_at(const std::wstring& path) {
  const DWORD error = ::GetLastError();
  if (error == ERROR_PATH_NOT_FOUND && goes_through_a_file(path)) {
    errno = ENOTDIR;
    return -1;
  }
  return failed(error);
}

Handle open_handle(const std::wstring& path, DWORD access, DWORD how, DWORD flags) {
  for (int i = 0;; ++i) {
    Handle handle(::CreateFileW(path.c_str(), access, every_sharing, nullptr, how,
                                flags | FILE_FLAG_BACKUP_SEMANTICS, nullptr));
    if (handle.valid() || ::GetLastError() != ERROR_SHARING_VIOLATION || i == tries) return handle;
    wait_before_try(i);
  }
}

int status_of(const std::wstring& path, Status* status, bool follow) {
  const Handle handle =
      open_handle(path, FILE_READ_ATTRIBUTES, OPEN_EXISTING, follow ? 0 : FILE_FLAG_OPEN_REPARSE_POINT);
  if (!handle.valid()) return failed_at(path);
  return report(handle.get(), *status) ? 0 : failed();
}

bool clear_read_only(const std::wstring& path) {
  const DWORD attributes = ::GetFileAttributesW(path.c_str());
  if (attributes == INVALID_FILE_ATTRIBUTES || (attributes & FILE_ATTRIBUTE_READONLY) == 0) return false;
  // 0 would mean "unchanged".
  const DWORD rest = attributes & ~static_cast<DWORD>(FILE_ATTRIBUTE_READONLY);
  return ::SetFileAttributesW(path.c_str(), rest != 0 ? rest : FILE_ATTRIBUTE_NORMAL) != 0;
}

int touch_handle(HANDLE handle) {
  FILETIME now;
  ::GetSystemTimeAsFileTime(&now);
  return ::SetFileTime(handle, nullptr, &now, &now) != 0 ? 0 : failed();
}

OVERLAPPED at_offset(Offset at) {
  OVERLAPPED place{};
  place.Offset = static_cast<DWORD>(static_cast<std::uint64_t>(at) & 0xFFFFFFFFu);
  place.OffsetHigh = static_cast<DWORD>(static_cast<std::uint64_t>(at) >> 32);
  return place;
}

ssize_t read_some(int file, void* into, std::size_t size, OVERLAPPED* place) {
  DWORD got = 0;
  const auto most = static_cast<DWORD>(std::min<std::size_t>(size, 1u << 30));
  if (::ReadFile(handle_of(file), into, most, &got, place) != 0) return static_cast<ssize_t>(got);
  const DWORD error = ::GetLastError();
  if (error == ERROR_HANDLE_EOF || error == ERROR_BROKEN_PIPE) return 0;
  if (Status status; (error == ERROR_INVALID_FUNCTION || error == ERROR_INVALID_PARAMETER ||
                      error == ERROR_ACCESS_DENIED || error == ERROR_INVALID_HANDLE) &&
                     report(handle_of(file), status) && S_ISDIR(status.st_mode)) {
    errno = EISDIR;
    return -1;
  }
  return failed(error);
}

ssize_t write_some(int file, const void* from, std::size_t size, OVERLAPPED* place) {
  DWORD done = 0;
  const auto most = static_cast<DWORD>(std::min<std::size_t>(size, 1u << 30));
  return ::WriteFile(handle_of(file), from, most, &done, place) != 0 ? static_cast<ssize_t>(done) : failed();
}

// Returns an empty name, with the error kept for failed(), if the folder's path is unknown.
Name in_folder(int folder, const Name& file) {
  if (folder == AT_FDCWD || std::filesystem::path(file.get()).has_root_path()) return file;
  const std::wstring place = windows::extended_final_path(handle_of(folder));
  if (place.empty()) return Name(L"");
  std::wstring rest = file.get();
  std::replace(rest.begin(), rest.end(), L'/', L'\\');
  return Name((place + L"\\" + rest).c_str());
}

// Removes a file with POSIX semantics (Windows 10 1809): the name is free at once even if the file is open,
// and a read-only file keeps its attributes, which its other links share. Returns false if that is not
// available.
bool remove_as_posix_does(const std::wstring& path) {
  constexpr auto disposition_ex = static_cast<FILE_INFO_BY_HANDLE_CLASS>(21);
  DWORD how = 0x1 | 0x2 | 0x10;  // delete, POSIX semantics, ignore the read-only attribute
  const Handle handle = open_handle(path, DELETE, OPEN_EXISTING, FILE_FLAG_OPEN_REPARSE_POINT);
  return handle.valid() && ::SetFileInformationByHandle(handle.get(), disposition_ex, &how, sizeof how) != 0;
}

bool is_folder(const std::wstring& path) {
  const DWORD attributes = ::GetFileAttributesW(path.c_str());
  return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
}

}  // namespace

Name::Name(const char* utf8) : text_(windows::wide(utf8)) {}

std::wstring Name::for_call() const {
  // Windows' limit is 260 with the ending zero, 248 for folders; \\?\ takes the path unchanged.
  constexpr std::size_t always_fits = 240;
  std::wstring path = text_;
  std::replace(path.begin(), path.end(), L'/', L'\\');
  if (path.size() < always_fits || path.starts_with(L"\\\\?\\") || path.starts_with(L"\\\\.\\")) return path;
  std::wstring full(path.size() + MAX_PATH, L'\0');
  DWORD length = ::GetFullPathNameW(path.c_str(), static_cast<DWORD>(full.size()), full.data(), nullptr);
  if (length > full.size()) {
    full.resize(length);
    length = ::GetFullPathNameW(path.c_str(), length, full.data(), nullptr);
  }
  full.resize(length);
  if (full.starts_with(L"\\\\")) return L"\\\\?\\UNC" + full.substr(1);
  return L"\\\\?\\" + full;
}

int open(const Name& file, int flags, unsigned) {
  const std::wstring path = file.for_call();
  const int access_mode = flags & (O_RDONLY | O_WRONLY | O_RDWR);
  DWORD access = access_mode == O_WRONLY ? GENERIC_WRITE | FILE_READ_ATTRIBUTES
                 : access_mode == O_RDWR ? GENERIC_READ | GENERIC_WRITE
                                         : GENERIC_READ;
  if ((flags & O_PATH) != 0) access = FILE_READ_ATTRIBUTES;
  if ((flags & O_APPEND) != 0)
    access = (access & ~static_cast<DWORD>(GENERIC_WRITE)) | FILE_APPEND_DATA | FILE_WRITE_ATTRIBUTES |
             SYNCHRONIZE;
  const bool make = (flags & O_CREAT) != 0, truncates = (flags & O_TRUNC) != 0;
  const DWORD how = make && (flags & O_EXCL) != 0 ? CREATE_NEW : make ? OPEN_ALWAYS : OPEN_EXISTING;
  DWORD more = FILE_ATTRIBUTE_NORMAL;
  if ((flags & O_NOFOLLOW) != 0) more |= FILE_FLAG_OPEN_REPARSE_POINT;
  Handle handle = open_handle(path, access, how, more);
  if (!handle.valid()) {
    const DWORD error = ::GetLastError();
    if (access_mode != O_RDONLY && is_folder(path)) {
      errno = how == CREATE_NEW ? EEXIST : EISDIR;
      return -1;
    }
    ::SetLastError(error);
    return failed_at(path);
  }
  Status status;
  if (!report(handle.get(), status)) return failed();
  const bool link = S_ISLNK(status.st_mode), folder = S_ISDIR(status.st_mode);
  if ((flags & O_NOFOLLOW) != 0 && link && (flags & O_PATH) == 0)
    errno = ELOOP;
  else if ((flags & O_DIRECTORY) != 0 && !folder)
    errno = ENOTDIR;
  else if (folder && access_mode != O_RDONLY)
    errno = EISDIR;
  else if (truncates && ::SetEndOfFile(handle.get()) == 0)
    return failed();
  else {
    const int number = ::_open_osfhandle(reinterpret_cast<intptr_t>(handle.get()),
                                         (flags & O_APPEND) | _O_BINARY | _O_NOINHERIT);
    if (number >= 0) handle.release();
    return number;
  }
  return -1;
}

int openat(int folder, const Name& file, int flags, unsigned mode) {
  const Name whole = in_folder(folder, file);
  return whole.get().empty() ? failed() : open(whole, flags, mode);
}

int close(int file) { return ::_close(file); }

ssize_t read(int file, void* into, std::size_t size) { return read_some(file, into, size, nullptr); }

ssize_t write(int file, const void* from, std::size_t size) { return write_some(file, from, size, nullptr); }

// Windows moves the file position; callers do not mix these with read() and write() on one descriptor.
ssize_t pread(int file, void* into, std::size_t size, Offset at) {
  OVERLAPPED place = at_offset(at);
  return read_some(file, into, size, &place);
}

ssize_t pwrite(int file, const void* from, std::size_t size, Offset at) {
  OVERLAPPED place = at_offset(at);
  return write_some(file, from, size, &place);
}

// A read-only descriptor is flushed through a second handle. A folder cannot be flushed; NTFS journals its
// names.
int fsync(int file) {
  if (::FlushFileBuffers(handle_of(file)) != 0) return 0;
  const DWORD error = ::GetLastError();
  if (error != ERROR_ACCESS_DENIED && error != ERROR_INVALID_FUNCTION) return failed(error);
  const Handle writable(::ReOpenFile(handle_of(file), GENERIC_WRITE, every_sharing, 0));
  if (!writable.valid()) return 0;
  return ::FlushFileBuffers(writable.get()) != 0 ? 0 : failed();
}

int ftruncate(int file, Offset size) {
  FILE_END_OF_FILE_INFO end{};
  end.EndOfFile.QuadPart = size;
  return ::SetFileInformationByHandle(handle_of(file), FileEndOfFileInfo, &end, sizeof end) != 0 ? 0
                                                                                                 : failed();
}

int fstat(int file, Status* status) { return report(handle_of(file), *status) ? 0 : failed(); }

int stat(const Name& file, Status* status) { return status_of(file.for_call(), status, true); }

int lstat(const Name& file, Status* status) { return status_of(file.for_call(), status, false); }

int access(const Name& file, int mode) {
  const std::wstring path = file.for_call();
  const DWORD attributes = ::GetFileAttributesW(path.c_str());
  if (attributes == INVALID_FILE_ATTRIBUTES) return failed_at(path);
  constexpr int write = 2;
  if ((mode & write) == 0) return 0;
  // Access lists can only be tested by opening the file. For a folder, write access means adding a file.
  const bool folder = (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
  return open_handle(path, folder ? FILE_ADD_FILE : GENERIC_WRITE, OPEN_EXISTING, 0).valid() ? 0 : failed();
}

int unlink(const Name& file) {
  const std::wstring path = file.for_call();
  if (Status status; status_of(path, &status, false) != 0)
    return -1;
  else if (S_ISDIR(status.st_mode)) {
    errno = EISDIR;
    return -1;
  }
  for (int i = 0;; ++i) {
    if (remove_as_posix_does(path) || ::DeleteFileW(path.c_str()) != 0) return 0;
    const DWORD error = ::GetLastError();
    // A link to a folder is removed like a folder.
    if (is_folder(path)) return ::RemoveDirectoryW(path.c_str()) != 0 ? 0 : failed();
    if (!passes(error) || i == tries) return failed(error);
    if (!clear_read_only(path)) wait_before_try(i);
  }
}

int rename(const Name& from, const Name& to) {
  const std::wstring source = from.for_call(), target = to.for_call();
  for (int i = 0;; ++i) {
    if (::MoveFileExW(source.c_str(), target.c_str(), MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH) !=
        0)
      return 0;
    const DWORD error = ::GetLastError();
    if (is_folder(target) && ::GetFileAttributesW(source.c_str()) != INVALID_FILE_ATTRIBUTES) {
      if (!is_folder(source)) {
        errno = EISDIR;
        return -1;
      }
      // POSIX also replaces an empty folder.
      if (i == 0 && ::RemoveDirectoryW(target.c_str()) != 0) continue;
      errno = ENOTEMPTY;
      return -1;
    }
    if (!passes(error) || i == tries) return failed(error);
    if (!clear_read_only(target)) wait_before_try(i);
  }
}

int link(const Name& from, const Name& to) {
  return ::CreateHardLinkW(to.for_call().c_str(), from.for_call().c_str(), nullptr) != 0 ? 0 : failed();
}

int symlink(const Name& target, const Name& link) {
  constexpr DWORD without_privilege = 2;  // SYMBOLIC_LINK_FLAG_ALLOW_UNPRIVILEGED_CREATE, Windows 10 1703
  std::wstring text = target.get();
  std::replace(text.begin(), text.end(), L'/', L'\\');
  const std::filesystem::path there = std::filesystem::path(link.get()).parent_path() / text;
  const DWORD kind = is_folder(there.native()) ? SYMBOLIC_LINK_FLAG_DIRECTORY : 0;
  return ::CreateSymbolicLinkW(link.for_call().c_str(), text.c_str(), kind | without_privilege) != 0
             ? 0
             : failed();
}

int mkdir(const Name& folder, unsigned) {
  return ::CreateDirectoryW(folder.for_call().c_str(), nullptr) != 0 ? 0 : failed();
}

int rmdir(const Name& folder) { return ::RemoveDirectoryW(folder.for_call().c_str()) != 0 ? 0 : failed(); }

// Only checks that the file exists.
int chmod(const Name& file, unsigned) {
  Status status;
  return stat(file, &status);
}

int fchmod(int file, unsigned) {
  Status status;
  return fstat(file, &status);
}

int flock(int file, int operation) {
  constexpr Offset beyond_any_content = Offset{1} << 62;
  OVERLAPPED place = at_offset(beyond_any_content);
  // Releases a lock that this descriptor already holds, as flock does.
  const bool had = ::UnlockFileEx(handle_of(file), 0, 1, 0, &place) != 0;
  if ((operation & LOCK_UN) != 0) return had || ::GetLastError() == ERROR_NOT_LOCKED ? 0 : failed();
  DWORD flags = (operation & LOCK_EX) != 0 ? LOCKFILE_EXCLUSIVE_LOCK : 0;
  if ((operation & LOCK_NB) != 0) flags |= LOCKFILE_FAIL_IMMEDIATELY;
  return ::LockFileEx(handle_of(file), flags, 0, 1, 0, &place) != 0 ? 0 : failed();
}

std::vector<std::string> names_in(const Name& folder) {
  std::vector<std::string> names;
  WIN32_FIND_DATAW found{};
  const HANDLE search = ::FindFirstFileW((folder.for_call() + L"\\*").c_str(), &found);
  if (search == INVALID_HANDLE_VALUE) return names;
  do names.push_back(windows::utf8(found.cFileName));
  while (::FindNextFileW(search, &found) != 0);
  ::FindClose(search);
  return names;
}

bool may_access(const Name& file, int mode) { return access(file, mode) == 0; }

std::string target_of(const Name& link) {
  std::error_code error;
  const std::filesystem::path target =
      std::filesystem::read_symlink(std::filesystem::path(link.get()), error);
  return error ? std::string() : windows::utf8(target.native());
}

int getpid() { return static_cast<int>(::GetCurrentProcessId()); }

int touch(int file) { return touch_handle(handle_of(file)); }

int touch(const Name& file) {
  const std::wstring path = file.for_call();
  const Handle handle = open_handle(path, FILE_WRITE_ATTRIBUTES, OPEN_EXISTING, 0);
  return handle.valid() ? touch_handle(handle.get()) : failed_at(path);
}

}  // namespace enginehost::calls

namespace enginehost {

namespace fs = std::filesystem;

void remove_tree(const fs::path& folder, std::error_code& error) {
  error.clear();
  const auto remove = [&](const fs::path& path) {
    std::error_code unknown;
    const bool is_folder = fs::is_directory(fs::symlink_status(path, unknown));
    // Not fs::remove, which does not remove read-only files.
    if ((is_folder ? calls::rmdir(path) : calls::unlink(path)) != 0 && errno != ENOENT && !error)
      error.assign(errno, std::generic_category());
  };
  std::error_code reading;
  std::vector<fs::path> inside;  // folders before their content
  if (fs::is_directory(fs::symlink_status(folder, reading)))
    for (fs::recursive_directory_iterator at(folder, reading), end; !reading && at != end;
         at.increment(reading))
      inside.push_back(at->path());
  for (auto path = inside.rbegin(); path != inside.rend(); ++path) remove(*path);
  remove(folder);
}

}  // namespace enginehost
