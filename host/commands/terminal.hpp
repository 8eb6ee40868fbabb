// The person at the other end: what the system lets a command ask and hear.
#pragma once
#include <optional>
#include <string>

#include "base/cancel.hpp"

namespace enginehost::commands {

constexpr int standard_input = 0, standard_error = 2;  // descriptors

bool is_terminal(int descriptor);

// Up to the end of the line, which is not part of it, or of what there is. Nothing where nothing is left, or
// it cannot be read: errno tells, 0 for the end.
std::optional<std::string> read_line(int descriptor);

// From standard input, a terminal, which does not show it meanwhile.
std::string read_line_unseen();

// Ctrl-C, SIGTERM and the end of the terminal (SIGHUP, unless nohup had it ignored; on Windows the end of the
// session or of the window) cancel this token; a second Ctrl-C or SIGTERM ends the process at once, and no
// build is blamed for that.
CancelToken cancel_on_signal();

}  // namespace enginehost::commands
