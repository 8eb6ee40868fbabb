#include "host/load/helper/limits.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <string_view>

#include "base/files.hpp"

namespace enginehost::helper {
namespace {

// No engine has so many files open; beyond it, the kernel's memory for them matters.
constexpr rlim_t most_descriptors = 65536;

// Set once before a build's code runs.
std::uint64_t limit = 0, used_before = 0, page = 4096;

// Returns what RLIMIT_DATA counts: the sixth number of /proc/self/statm, in pages. 0 if it cannot be read.
std::uint64_t data_bytes() {
  const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[256];
  const ssize_t length = ::read(file, text, sizeof text);
  ::close(file);
  std::uint64_t number = 0;
  int spaces = 0;
  for (ssize_t at = 0; at < length && spaces < 6; ++at) {
    if (text[at] == ' ') {
      ++spaces;
      if (spaces < 6) number = 0;
    } else if (text[at] >= '0' && text[at] <= '9') {
      number = number * 10 + static_cast<std::uint64_t>(text[at] - '0');
    }
  }
  return spaces >= 5 ? number * page : 0;
}

// Returns false if the caller's own limit is lower.
bool lower(decltype(RLIMIT_DATA) resource, rlim_t most) {
  rlimit now{};
  if (::getrlimit(resource, &now) != 0 || now.rlim_cur <= most) return false;
  now.rlim_cur = most;
  return ::setrlimit(resource, &now) == 0;
}

// When the machine or the container runs out of memory, the kernel ends this process and not the application.
void be_ended_first() {
  const FileDescriptor file(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  constexpr std::string_view most = "1000";
  if (file.valid() && ::write(file.get(), most.data(), most.size()) < 0) return;
}

}  // namespace

void set_limits(std::uint64_t memory_bytes) {
  lower(RLIMIT_NOFILE, most_descriptors);
  be_ended_first();
  if (const long size = ::sysconf(_SC_PAGESIZE); size > 0) page = static_cast<std::uint64_t>(size);
  used_before = data_bytes();
  if (memory_bytes == 0 || used_before == 0) return;
  // The limit is for what the build takes; the shadow memory of a sanitizer counts as data, too.
  if (lower(RLIMIT_DATA, used_before + memory_bytes)) limit = memory_bytes;
}

MemoryUse memory_use() {
  if (limit == 0) return {};
  const std::uint64_t now = data_bytes();
  return {now > used_before ? now - used_before : 0, limit};
}

}  // namespace enginehost::helper
