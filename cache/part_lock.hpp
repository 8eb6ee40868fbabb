// A lock on a few bytes of an open file, independent of locks on the whole file. The kernel releases it when
// the process dies.
#pragma once
#include "base/file_calls.hpp"

namespace enginehost::cache::inside {

// Returns false at once if another descriptor, of any process, locks one of these bytes, and on systems
// without such locks.
bool lock_part(int file, calls::Offset at, calls::Offset size);
void unlock_part(int file, calls::Offset at, calls::Offset size);

}  // namespace enginehost::cache::inside
