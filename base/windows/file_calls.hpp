// POSIX file calls on Windows; see base/file_calls.hpp. Descriptors are those of the C runtime. Differences:
// - Files are opened with all three sharing modes, so that a file in use can be renamed and removed. A file
// that is held otherwise, such as a DLL by the loader, cannot.
// - Only the "read-only" part of a mode is kept.
// - A rename or removal that another program blocks is retried for a second, because virus scanners and
// indexers open new files.
#pragma once
#include <fcntl.h>
#include <io.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

// Flags of POSIX that the C runtime of Windows lacks. The bits are unused in its <fcntl.h>.
#define O_CLOEXEC 0x01000000
#define O_NOFOLLOW 0x02000000
#define O_DIRECTORY 0x04000000
#define O_NONBLOCK 0x08000000
#define O_PATH 0x10000000
#define AT_FDCWD (-100)
#define LOCK_SH 1
#define LOCK_EX 2
#define LOCK_NB 4
#define LOCK_UN 8
// The C runtime may define these as macros for 64-bit offsets, which would rename ours in some files only.
#undef stat
#undef fstat
#undef ftruncate
#ifndef S_IFLNK
#define S_IFLNK 0xA000
#endif
#ifndef S_ISLNK
#define S_ISLNK(mode) (((mode)&S_IFMT) == S_IFLNK)
#endif
#ifndef S_ISUID
#define S_ISUID 04000
#define S_ISGID 02000
#endif
#ifndef S_IWGRP
#define S_IWGRP 0020
#endif
#ifndef S_IWOTH
#define S_IWOTH 0002
#endif
#ifndef EDQUOT
#define EDQUOT 122
#endif
#ifndef ESTALE
#define ESTALE 116
#endif

namespace enginehost::calls {

class Name {
 public:
  Name(const char* utf8);
  Name(const wchar_t* text) : text_(text) {}
  Name(const std::string& utf8) : Name(utf8.c_str()) {}
  Name(const std::filesystem::path& path) : text_(path.native()) {}
  // Returns the name for CreateFileW and related calls: absolute, and with \\?\ in front if longer than
  // MAX_PATH.
  std::wstring for_call() const;
  const std::wstring& get() const { return text_; }

 private:
  std::wstring text_;
};

struct Status {
  std::uint64_t st_dev = 0, st_ino = 0;
  unsigned st_mode = 0;
  std::uint64_t st_nlink = 0;
  unsigned st_uid = 0, st_gid = 0;  // not available on Windows
  std::int64_t st_size = 0, st_blocks = 0;
  std::int64_t st_mtime = 0, st_ctime = 0;  // seconds since 1970
  std::int64_t content_ns = 0, any_ns = 0;  // when the content changed, when anything did
};

using Offset = std::int64_t;
using Mode = unsigned;

int open(const Name& file, int flags, unsigned mode = 0);
// Opens a file relative to `folder`, a descriptor that open() returned for a folder.
int openat(int folder, const Name& file, int flags, unsigned mode = 0);
int close(int file);
ssize_t read(int file, void* into, std::size_t size);
ssize_t write(int file, const void* from, std::size_t size);
ssize_t pread(int file, void* into, std::size_t size, Offset at);
ssize_t pwrite(int file, const void* from, std::size_t size, Offset at);
int fsync(int file);
int ftruncate(int file, Offset size);
int fstat(int file, Status* status);
int stat(const Name& file, Status* status);
int lstat(const Name& file, Status* status);
int access(const Name& file, int mode);
int unlink(const Name& file);
int rename(const Name& from, const Name& to);
int link(const Name& from, const Name& to);
int symlink(const Name& target, const Name& link);
int mkdir(const Name& folder, unsigned mode);
int rmdir(const Name& folder);
int chmod(const Name& file, unsigned mode);
int fchmod(int file, unsigned mode);
// Locks through LockFileEx, one lock per descriptor, on a byte beyond any content because Windows locks are
// mandatory.
int flock(int file, int operation);
std::vector<std::string> names_in(const Name& folder);
// Returns 0, or the errno of opening the folder.
template <class Action>
int for_each_name(const Name& folder, Action action) {
  const int opened = open(folder, O_RDONLY | O_DIRECTORY);
  if (opened < 0) return errno;
  for (const std::string& name : names_in(folder)) action(opened, name.c_str());
  close(opened);
  return 0;
}
// LockFileEx locks also block readers, which locks on a part must not; these lock nothing.
inline bool lock_part(int, Offset, Offset) { return false; }
inline void unlock_part(int, Offset, Offset) {}
inline bool lock_open_file(int file) { return flock(file, LOCK_EX | LOCK_NB) == 0; }
bool may_access(const Name& file, int mode);
// Returns whether the error means that another program locks the file (ERROR_SHARING_VIOLATION).
inline bool held_by_another(int error_number) { return error_number == EBUSY; }
std::string target_of(const Name& link);
int getpid();
inline std::int64_t modified_ns(const Status& status) { return status.content_ns; }
inline std::int64_t changed_ns(const Status& status) { return status.any_ns; }
int touch(int file);
int touch(const Name& file);

}  // namespace enginehost::calls
