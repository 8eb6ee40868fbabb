#include "base/process.hpp"

#include <fcntl.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/text.hpp"

namespace enginehost {

// A seccomp filter older than getrandom always answers ENOSYS or EPERM; /dev/urandom gives the same bytes.
bool fill_with_random_bytes(unsigned char* into, std::size_t size) {
  std::size_t got = 0;
  while (got < size) {
    const ssize_t more = ::getrandom(into + got, size - got, 0);
    if (more > 0)
      got += static_cast<std::size_t>(more);
    else if (more == 0 || errno != EINTR)
      break;
  }
  if (got == size) return true;
  const FileDescriptor device(calls::open("/dev/urandom", O_RDONLY | O_CLOEXEC));
  calls::Status status{};
  if (!device.valid() || calls::fstat(device.get(), &status) != 0 || !S_ISCHR(status.st_mode)) return false;
  while (got < size) {
    const ssize_t more = calls::read(device.get(), into + got, size - got);
    if (more > 0)
      got += static_cast<std::size_t>(more);
    else if (more == 0 || errno != EINTR)
      return false;
  }
  return true;
}

std::string boot_id() { return read_kernel_file("/proc/sys/kernel/random/boot_id"); }

// Both clocks are slewed alike: timekeeping.c, offs_real and offs_boot.
std::int64_t boot_moment_ns() {
  const auto now = [](clockid_t clock) {
    timespec time{};
    ::clock_gettime(clock, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  };
  return now(CLOCK_REALTIME) - now(CLOCK_BOOTTIME);
}

// Field 22 of /proc/PID/stat.
std::string start_time_of_process(std::int64_t process) {
  const std::string text = read_kernel_file("/proc/" + std::to_string(process) + "/stat");
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return {};
  const auto fields = split(std::string_view(text).substr(std::min(text.size(), name_end + 2)), ' ');
  return fields.size() > 19 ? fields[19] : "";
}

bool has_more_rights_than_its_caller() { return ::getauxval(AT_SECURE) != 0; }

std::string effective_user() { return std::to_string(::geteuid()); }

const char* home_variable() { return "HOME"; }

namespace {

// Returns whether the file has this program's program headers. A name may lead to another file by now, and a
// script's name is not its interpreter's.
bool is_this_program(const char* file) {
  const FileDescriptor opened(::open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  ElfW(Ehdr) header;
  if (!opened.valid() || ::pread(opened.get(), &header, sizeof header, 0) != sizeof header ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(ElfW(Phdr)) ||
      header.e_phnum != ::getauxval(AT_PHNUM))
    return false;
  std::vector<ElfW(Phdr)> there(header.e_phnum);
  const std::size_t size = there.size() * sizeof(ElfW(Phdr));
  return ::pread(opened.get(), there.data(), size, static_cast<off_t>(header.e_phoff)) ==
             static_cast<ssize_t>(size) &&
         std::memcmp(there.data(), reinterpret_cast<const void*>(::getauxval(AT_PHDR)), size) == 0;
}

// Fallback without /proc: the name the program was started with. The caller of a setuid program chooses that
// name.
std::string started_by() {
  const auto* const name = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
  if (name == nullptr || has_more_rights_than_its_caller() || !is_this_program(name)) return {};
  char path[PATH_MAX];
  if (::realpath(name, path) != nullptr) return path;
  // The restriction on /proc/self/exe may also cover other links.
  std::error_code error;
  return std::filesystem::absolute(name, error).lexically_normal().native();
}

}  // namespace

std::string executable_path() {
  // Cached, because every open asks several times and a running program keeps its name.
  static const std::string& path = *new std::string([] {
    char target[PATH_MAX];
    const ssize_t length = ::readlink("/proc/self/exe", target, sizeof target);
    return length > 0 ? std::string(target, static_cast<std::size_t>(length)) : started_by();
  }());
  return path;
}

}  // namespace enginehost
