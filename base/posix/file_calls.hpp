// POSIX's own calls; see base/file_calls.hpp.
#pragma once
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#ifdef __APPLE__
// Used here only to open a folder that names are relative to.
#define O_PATH O_SEARCH
#endif

namespace enginehost::calls {

#ifdef __APPLE__
// On macOS fsync(2) leaves the bytes in the drive's cache; F_FULLFSYNC does not. Shared file systems do not
// support F_FULLFSYNC and get fsync(2).
inline int fsync(int file) { return ::fcntl(file, F_FULLFSYNC) == 0 ? 0 : ::fsync(file); }
inline const timespec& modified_time(const struct ::stat& status) { return status.st_mtimespec; }
inline const timespec& changed_time(const struct ::stat& status) { return status.st_ctimespec; }
#else
inline int fsync(int file) { return ::fsync(file); }
inline const timespec& modified_time(const struct ::stat& status) { return status.st_mtim; }
inline const timespec& changed_time(const struct ::stat& status) { return status.st_ctim; }
#endif

// A file name as the calls take it; made from path or text without a copy.
class Name {
 public:
  Name(const char* text) : text_(text) {}
  Name(const std::string& text) : text_(text.c_str()) {}
  Name(const std::filesystem::path& path) : text_(path.c_str()) {}
  const char* get() const { return text_; }

 private:
  const char* text_;
};

using Status = struct ::stat;
using Offset = off_t;
using Mode = mode_t;

// Makes a call that takes a name, and repeats it on ESTALE. On network file systems and FUSE, a rename by
// another machine can leave a stale name in the kernel. The kernel looks the name up once more, which is not
// enough when renames follow each other. Four tries were needed at 600 renames per second over sshfs.
template <class Call>
int by_name(Call call) {
  constexpr int most_tries = 8;
  int result = call();
  for (int tries = 1; result < 0 && errno == ESTALE && tries < most_tries; ++tries) result = call();
  return result;
}

inline int open(Name file, int flags, mode_t mode = 0) {
  return by_name([&] { return ::open(file.get(), flags, mode); });
}
inline int openat(int folder, Name file, int flags, mode_t mode = 0) {
  return by_name([&] { return ::openat(folder, file.get(), flags, mode); });
}
inline int close(int file) { return ::close(file); }

// Makes a call again when a signal interrupted it.
template <class Call>
ssize_t uninterrupted(Call call) {
  ssize_t result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

inline ssize_t read(int file, void* into, std::size_t size) {
  return uninterrupted([&] { return ::read(file, into, size); });
}
inline ssize_t write(int file, const void* from, std::size_t size) {
  return uninterrupted([&] { return ::write(file, from, size); });
}
inline ssize_t pread(int file, void* into, std::size_t size, off_t at) {
  return uninterrupted([&] { return ::pread(file, into, size, at); });
}
inline ssize_t pwrite(int file, const void* from, std::size_t size, off_t at) {
  return uninterrupted([&] { return ::pwrite(file, from, size, at); });
}
inline int ftruncate(int file, off_t size) { return ::ftruncate(file, size); }
inline int fstat(int file, Status* status) { return ::fstat(file, status); }
inline int stat(Name file, Status* status) {
  return by_name([&] { return ::stat(file.get(), status); });
}
inline int lstat(Name file, Status* status) {
  return by_name([&] { return ::lstat(file.get(), status); });
}
inline int access(Name file, int mode) {
  return by_name([&] { return ::access(file.get(), mode); });
}
inline int unlink(Name file) {
  return by_name([&] { return ::unlink(file.get()); });
}
inline int rename(Name from, Name to) {
  return by_name([&] { return std::rename(from.get(), to.get()); });
}
inline int link(Name from, Name to) {
  return by_name([&] { return ::link(from.get(), to.get()); });
}
inline int symlink(Name target, Name link) {
  return by_name([&] { return ::symlink(target.get(), link.get()); });
}
inline int mkdir(Name folder, mode_t mode) {
  return by_name([&] { return ::mkdir(folder.get(), mode); });
}
inline int rmdir(Name folder) {
  return by_name([&] { return ::rmdir(folder.get()); });
}
inline int chmod(Name file, mode_t mode) {
  return by_name([&] { return ::chmod(file.get(), mode); });
}
inline int fchmod(int file, mode_t mode) { return ::fchmod(file, mode); }
inline int flock(int file, int operation) { return ::flock(file, operation); }
inline pid_t getpid() { return ::getpid(); }

// Returns whether the error means that another program locks the file; never on POSIX.
inline bool held_by_another(int) { return false; }

// Returns whether the effective user may access the file.
inline bool may_access(Name file, int mode) {
  return by_name([&] { return ::faccessat(AT_FDCWD, file.get(), mode, AT_EACCESS); }) == 0;
}

// Returns the target of a link; empty if the file is no link.
inline std::string target_of(Name link) {
  std::string target(4096, '\0');
  const ssize_t length = ::readlink(link.get(), target.data(), target.size());
  target.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  return target;
}

// Calls action(descriptor of the folder, name) for each entry, in no particular order. Returns 0, or the
// errno that kept it from listing all names.
template <class Action>
int for_each_name(Name folder, Action action) {
  const std::unique_ptr<DIR, int (*)(DIR*)> opened(::opendir(folder.get()), &::closedir);
  if (opened == nullptr) return errno;
  for (;;) {
    errno = 0;  // distinguishes the end from a failure
    const dirent* found = ::readdir(opened.get());
    if (found == nullptr) return errno;
    action(::dirfd(opened.get()), found->d_name);
  }
}

// Takes an exclusive lock on bytes of an open file against other processes and other descriptors of this
// process, until the file is closed; `size` 0: from `at` to any end. Returns false at once if another
// descriptor has one of them.
bool lock_part(int file, off_t at, off_t size);
void unlock_part(int file, off_t at, off_t size);
inline bool lock_open_file(int file) { return lock_part(file, 0, 0); }

// Returns when the file's content changed, in nanoseconds since 1970.
inline std::int64_t modified_ns(const Status& status) {
  const timespec& time = modified_time(status);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

// Returns when anything about the file changed, including its name.
inline std::int64_t changed_ns(const Status& status) {
  const timespec& time = changed_time(status);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

// Sets the file's times to now.
inline int touch(int file) { return ::futimens(file, nullptr); }
inline int touch(Name file) {
  return by_name([&] { return ::utimensat(AT_FDCWD, file.get(), nullptr, 0); });
}

}  // namespace enginehost::calls
