// Properties of a terminal for the progress bar.
#pragma once
#include <cstddef>
#include <cstdio>

namespace enginehost::transfer {

// Returns true if the stream is a terminal that supports ANSI control sequences. On Windows this also enables
// them.
bool is_terminal(std::FILE* stream);

// Returns the width in columns; 80 if it is unknown.
std::size_t columns_of(std::FILE* stream);

}  // namespace enginehost::transfer
