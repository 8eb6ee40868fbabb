#include "base/process.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <ctime>
#include <string_view>

#include "base/files.hpp"
#include "base/text.hpp"

namespace enginehost {

void fill_with_random_bytes(unsigned char* into, std::size_t size) {
  for (std::size_t got = 0; got < size;) {
    const ssize_t more = ::getrandom(into + got, size - got, 0);
    if (more > 0) got += static_cast<std::size_t>(more);
  }
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

std::string effective_user() { return std::to_string(::geteuid()); }

const char* home_variable() { return "HOME"; }

std::string executable_path() {
  // Asked for more than once at every open, and of a file that does not change its name while it runs.
  static const std::string& path = *new std::string([] {
    char target[PATH_MAX];
    const ssize_t length = ::readlink("/proc/self/exe", target, sizeof target);
    return std::string(target, length > 0 ? static_cast<std::size_t>(length) : 0);
  }());
  return path;
}

}  // namespace enginehost
