// Who holds a file's lock, as the system says.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace enginehost::cache::inside {

struct LockOwner {
  std::int64_t process = 0;
  std::string name;  // of its program; empty when it is not told
};

// Nothing where the system does not tell, and of a process of another machine or container.
std::optional<LockOwner> owner_of_lock(int file);

}  // namespace enginehost::cache::inside
