// Says on the answer channel where the process died.
#pragma once

namespace enginehost::helper {

// Handlers for SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT and SIGTRAP on a stack of their own: each writes one
// JSON line
// {"nonce","crash":{"signal","address","in_library","instruction","stack_overflow","exception",
// "what"}} to `descriptor` and lets
// the signal end the process. `nonce` must live as long as the process. Main thread, once.
void report_crashes(int descriptor, const char* nonce);

}  // namespace enginehost::helper
