// A lock on a few bytes of an open file, beside those on the whole of it. The kernel frees it when the
// process dies.
#pragma once
#include "base/file_calls.hpp"

namespace enginehost::cache::inside {

// False at once when another descriptor holds one of these bytes, of whatever process, and where there are no
// such locks.
bool lock_part(int file, calls::Offset at, calls::Offset size);
void unlock_part(int file, calls::Offset at, calls::Offset size);

}  // namespace enginehost::cache::inside
