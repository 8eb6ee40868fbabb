// Reports on the answer channel where the process died.
#pragma once

namespace enginehost::helper {

// Installs handlers for SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT and SIGTRAP on a stack of their own. Each
// writes one JSON line to `descriptor` and lets the signal end the process:
// {"nonce","crash":{"signal","address","in_library","instruction","stack_overflow","exception","what"}}
// `nonce` must live as long as the process. Call once, on the main thread.
void report_crashes(int descriptor, const char* nonce);

}  // namespace enginehost::helper
