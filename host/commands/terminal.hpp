// Questions to the user at a terminal, and requests to stop.
#pragma once
#include <optional>
#include <string>

#include "base/cancel.hpp"

namespace enginehost::commands {

constexpr int standard_input = 0, standard_error = 2;  // descriptors

bool is_terminal(int descriptor);

// Returns the next line without its end. Returns nothing at the end of input (errno is 0) or on an error
// (errno).
std::optional<std::string> read_line(int descriptor);

// Returns a line from standard input, which must be a terminal, without showing what is typed.
std::string read_line_unseen();

// Returns a token that is canceled by Ctrl-C, SIGTERM and the end of the terminal: SIGHUP unless it is
// ignored (nohup), on Windows the end of the session or a closed window. A second Ctrl-C or SIGTERM ends the
// process at once; no build is blamed for that.
CancelToken cancel_on_signal();

}  // namespace enginehost::commands
