// Locks of the operating system on open files, and who holds them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/file_calls.hpp"

namespace enginehost::cache::inside {

// A lock on a few bytes of an open file, independent of locks on the whole file. The kernel releases it when
// the process dies.

// Returns false at once if another descriptor, of any process, locks one of these bytes, and on systems
// without such locks.
bool lock_part(int file, calls::Offset at, calls::Offset size);
void unlock_part(int file, calls::Offset at, calls::Offset size);

// The process that holds a file's lock, according to the system.

struct LockOwner {
  std::int64_t process = 0;
  std::string name;  // of its program; empty if the system does not report it
};

// Returns nothing if the system does not report it, and for a process of another machine or container.
std::optional<LockOwner> owner_of_lock(int file);

}  // namespace enginehost::cache::inside
