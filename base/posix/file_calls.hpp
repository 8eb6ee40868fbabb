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
#include "base/darwin/file_details.hpp"
#else
#include "base/posix/file_details.hpp"
#endif

namespace enginehost::calls {

// What a call takes for a name; made of what is at hand without a copy.
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

// Does what takes a name, and again where what the name stood for is gone. On network file systems and FUSE
// another machine's rename leaves a name known that is stale once it is used (errno ESTALE); the kernel looks
// it up again once by itself, which is not enough where renames come one after the other. Four tries were
// needed at 600 renames a second over sshfs.
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
inline ssize_t read(int file, void* into, std::size_t size) { return ::read(file, into, size); }
inline ssize_t write(int file, const void* from, std::size_t size) { return ::write(file, from, size); }
inline ssize_t pread(int file, void* into, std::size_t size, off_t at) {
  return ::pread(file, into, size, at);
}
inline ssize_t pwrite(int file, const void* from, std::size_t size, off_t at) {
  return ::pwrite(file, from, size, at);
}
inline off_t lseek(int file, off_t by, int from) { return ::lseek(file, by, from); }
inline int ftruncate(int file, off_t size) { return ::ftruncate(file, size); }
inline int fstat(int file, Status* status) { return ::fstat(file, status); }
inline int stat(Name file, Status* status) {
  return by_name([&] { return ::stat(file.get(), status); });
}
inline int lstat(Name file, Status* status) {
  return by_name([&] { return ::lstat(file.get(), status); });
}
inline int fstatat(int folder, Name file, Status* status, int flags) {
  return by_name([&] { return ::fstatat(folder, file.get(), status, flags); });
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

// Whether that error says that another program keeps the file to itself, which nobody can here.
inline bool held_by_another(int) { return false; }

// Whether this process may, as the user it acts as.
inline bool may_access(Name file, int mode) {
  return by_name([&] { return ::faccessat(AT_FDCWD, file.get(), mode, AT_EACCESS); }) == 0;
}

// Where a link leads; empty when it is none.
inline std::string target_of(Name link) {
  std::string target(4096, '\0');
  const ssize_t length = ::readlink(link.get(), target.data(), target.size());
  target.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  return target;
}

// Calls action(descriptor of the folder, name) for everything in it, in no order. 0, or the errno of the call
// that kept it from telling the names, or some of them.
template <class Action>
int for_each_name(Name folder, Action action) {
  const std::unique_ptr<DIR, int (*)(DIR*)> opened(::opendir(folder.get()), &::closedir);
  if (opened == nullptr) return errno;
  for (;;) {
    errno = 0;  // only so an end is told from a failure
    const dirent* found = ::readdir(opened.get());
    if (found == nullptr) return errno;
    action(::dirfd(opened.get()), found->d_name);
  }
}

// A lock that keeps out other processes and other descriptors of this one, until the file is closed.
bool lock_open_file(int file);

// When the file's content changed, in nanoseconds since 1970.
inline std::int64_t modified_ns(const Status& status) {
  const timespec& time = modified_time(status);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

// When anything about the file changed, its name included.
inline std::int64_t changed_ns(const Status& status) {
  const timespec& time = changed_time(status);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

// The file was used now: its times become the present.
inline int touch(int file) { return ::futimens(file, nullptr); }
inline int touch(Name file) {
  return by_name([&] { return ::utimensat(AT_FDCWD, file.get(), nullptr, 0); });
}

}  // namespace enginehost::calls
