#include "cache/part_lock.hpp"

namespace enginehost::cache::inside {

// LockFileEx locks also block readers, which these must not.
bool lock_part(int, calls::Offset, calls::Offset) { return false; }
void unlock_part(int, calls::Offset, calls::Offset) {}

}  // namespace enginehost::cache::inside
