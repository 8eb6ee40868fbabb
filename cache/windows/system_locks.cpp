#include "cache/sharing.hpp"

namespace enginehost::cache::inside {

// Windows reports users of a file only through a service for installers, which takes seconds.
std::optional<LockOwner> owner_of_lock(int) { return {}; }

// LockFileEx locks also block readers, which these must not.
bool lock_part(int, calls::Offset, calls::Offset) { return false; }
void unlock_part(int, calls::Offset, calls::Offset) {}

}  // namespace enginehost::cache::inside
