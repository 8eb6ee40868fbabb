#include "base/process.hpp"

#include <libproc.h>
#include <mach-o/dyld.h>
#include <stdlib.h>
#include <sys/sysctl.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace enginehost {

bool fill_with_random_bytes(unsigned char* into, std::size_t size) {
  ::arc4random_buf(into, size);
  return true;
}

std::string boot_id() {
  char text[64] = {};
  std::size_t size = sizeof text - 1;
  return ::sysctlbyname("kern.bootsessionuuid", text, &size, nullptr, 0) == 0 ? text : std::string();
}

// This clock continues while the machine sleeps: clock_gettime(3).
std::int64_t boot_moment_ns() {
  return static_cast<std::int64_t>(::clock_gettime_nsec_np(CLOCK_REALTIME)) -
         static_cast<std::int64_t>(::clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW));
}

// Returns seconds and microseconds since 1970.
std::string start_time_of_process(std::int64_t process) {
  proc_bsdinfo info{};
  if (::proc_pidinfo(static_cast<int>(process), PROC_PIDTBSDINFO, 0, &info, sizeof info) !=
      static_cast<int>(sizeof info))
    return {};
  return std::to_string(info.pbi_start_tvsec) + "." + std::to_string(info.pbi_start_tvusec);
}

std::string effective_user() { return std::to_string(::geteuid()); }

bool has_more_rights_than_its_caller() { return ::issetugid() != 0; }

const char* home_variable() { return "HOME"; }

// dyld has the path that the program was started with, links included: dyld(3).
std::string executable_path() {
  char named[PATH_MAX], real[PATH_MAX];
  std::uint32_t size = sizeof named;
  if (::_NSGetExecutablePath(named, &size) != 0 || ::realpath(named, real) == nullptr) return {};
  return real;
}

}  // namespace enginehost
