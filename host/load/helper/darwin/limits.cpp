#include "host/load/helper/limits.hpp"

#include <sys/resource.h>

namespace enginehost::helper {

// The kernel of macOS does not apply RLIMIT_DATA to mapped memory.
void set_limits(std::uint64_t) {
  constexpr rlim_t most_descriptors = 65536;
  rlimit now{};
  if (::getrlimit(RLIMIT_NOFILE, &now) != 0 || now.rlim_cur <= most_descriptors) return;
  now.rlim_cur = most_descriptors;
  ::setrlimit(RLIMIT_NOFILE, &now);
}

MemoryUse memory_use() { return {}; }

}  // namespace enginehost::helper
