// What a progress bar asks of a terminal.
#pragma once
#include <cstddef>
#include <cstdio>

namespace enginehost::transfer {

// The stream ends on a terminal that obeys ANSI's control sequences; on Windows this asks it to.
bool is_terminal(std::FILE* stream);

// Its width; 80 where it tells none.
std::size_t columns_of(std::FILE* stream);

}  // namespace enginehost::transfer
