#include <link.h>
#include <sys/resource.h>

#include "base/process.hpp"
#include "host/history/program.hpp"
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

std::string program_build_id() {
  std::string id;
  ::dl_iterate_phdr(
      [](dl_phdr_info* program, std::size_t, void* into) {
        *static_cast<std::string*>(into) = mapped_build_id(*program);
        return 1;  // the first object is the program
      },
      &id);
  return id;
}

}  // namespace enginehost::history
