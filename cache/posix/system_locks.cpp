#if __has_include(<sys/sysmacros.h>)
#include <sys/sysmacros.h>
#endif

#include <sys/types.h>
#include <cstdio>
#include <string>
#include <type_traits>
#include <vector>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "cache/sharing.hpp"

namespace enginehost::cache::inside {

// Linux: "1: FLOCK  ADVISORY  WRITE 4711 fd:01:393219 0 EOF" in /proc/locks. A waiting process has "->"
// before the kind.
std::optional<LockOwner> owner_of_lock(int file) {
  calls::Status status{};
  const std::string locks = read_kernel_file("/proc/locks");
  if (locks.empty() || calls::fstat(file, &status) != 0) return {};
  char wanted[64];
  const auto device = static_cast<std::make_unsigned_t<dev_t>>(status.st_dev);  // signed on macOS
  std::snprintf(wanted, sizeof wanted, "%02x:%02x:%llu", static_cast<unsigned>(major(device)),
                static_cast<unsigned>(minor(device)), static_cast<unsigned long long>(status.st_ino));
  for (const std::string& line : split(locks, '\n')) {
    std::vector<std::string> words;
    for (std::string& word : split(line, ' '))
      if (!word.empty()) words.push_back(std::move(word));
    if (words.size() < 6 || words[1] != "FLOCK" || words[5] != wanted) continue;
    const auto process = parse_integer(words[4]);
    if (!process || *process <= 0) return {};
    return LockOwner{*process, read_kernel_file("/proc/" + words[4] + "/comm")};
  }
  return {};
}

}  // namespace enginehost::cache::inside
