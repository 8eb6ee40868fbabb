// What the helper asks of its own process, which each system does in its own way.
#pragma once

namespace enginehost::helper {

// Once, before anything of a stranger runs: dies with its parent, leaves no core, and shows no window that
// waits for somebody.
void prepare_process();

// Ends the process without running anything more of it or of what it loaded.
[[noreturn]] void leave_at_once(int status);

// From now on the process ends in that time if it has not before; `descriptor` and `nonce` as report_crashes
// has them. Says {"nonce","overdue":true} there, or ends by SIGALRM, whichever the system has.
void end_within(unsigned seconds, int descriptor, const char* nonce);

// Takes descriptor 3 to another number; -1 when it is no pipe or socket.
int take_private_channel();

}  // namespace enginehost::helper
