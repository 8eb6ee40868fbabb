// Reads passphrases.
#pragma once
#include <optional>
#include <string>

namespace enginehost::commands {

// Returns the next line without its end. Returns nothing at the end of input (errno is 0) or on an error
// (errno).
std::optional<std::string> read_line(int descriptor);

// Returns a line from standard input, which must be a terminal, without showing what is typed.
std::string read_line_unseen();

}  // namespace enginehost::commands
