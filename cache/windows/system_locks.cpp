#include "cache/sharing.hpp"

namespace enginehost::cache::inside {

// Windows reports users of a file only through a service for installers, which takes seconds.
std::optional<LockOwner> owner_of_lock(int) { return {}; }

}  // namespace enginehost::cache::inside
