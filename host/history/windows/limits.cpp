#include "host/history/store.hpp"

namespace enginehost::history {

// A program's stack is as large as its header says, and a job's limits are not the caller's to raise.
Fingerprint process_limits() { return {}; }

}  // namespace enginehost::history
