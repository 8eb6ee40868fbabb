// System-specific operations of the probe on its own process.
#pragma once

namespace enginehost::helper {

// Call once, before any untrusted code runs. Makes the process end with its parent, write no core file, and
// show no window that waits for a person.
void prepare_process();

// Ends the process without running more of its own code or of what it loaded.
[[noreturn]] void leave_at_once(int status);

// Ends the process after that time if it still runs. `descriptor` and `nonce` as in report_crashes. Either
// writes {"nonce","overdue":true} there first or ends by SIGALRM, depending on the system.
void end_within(unsigned seconds, int descriptor, const char* nonce);

// Moves descriptor 3 to another number; -1 when it is no pipe or socket.
int take_private_channel();

}  // namespace enginehost::helper
