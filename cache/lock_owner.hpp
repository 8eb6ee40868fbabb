// The process that holds a file's lock, according to the system.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace enginehost::cache::inside {

struct LockOwner {
  std::int64_t process = 0;
  std::string name;  // of its program; empty if the system does not report it
};

// Returns nothing if the system does not report it, and for a process of another machine or container.
std::optional<LockOwner> owner_of_lock(int file);

}  // namespace enginehost::cache::inside
