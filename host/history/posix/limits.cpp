#include <sys/resource.h>

#include "host/history/store.hpp"

namespace enginehost::history {

Fingerprint process_limits() {
  Fingerprint limits;
  const auto add = [&](std::string_view name, auto resource) {
    rlimit limit{};
    if (::getrlimit(resource, &limit) != 0) return;
    limits.emplace_back(name, limit.rlim_cur == RLIM_INFINITY
                                  ? std::string("unlimited")
                                  : std::to_string(limit.rlim_cur / 1024) + " KiB");
  };
  add(stack_part, RLIMIT_STACK);
  add(address_space_part, RLIMIT_AS);
  add(data_part, RLIMIT_DATA);
  return limits;
}

}  // namespace enginehost::history
