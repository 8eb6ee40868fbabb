#include "host/history/store.hpp"

namespace enginehost::history {

// A program's stack size is in its header, and the caller cannot raise a job's limits.
Fingerprint process_limits() { return {}; }

}  // namespace enginehost::history
