// What a command printed, and whether all of it arrived.
#pragma once
#include <cstdio>
#include <string_view>

namespace enginehost::commands {

// Everything that goes to standard output goes this way: a stream forgets why it failed, and a later flush of
// it may succeed.
void write_out(std::FILE* stream, std::string_view text);

// What was written so far is brought to where it goes.
void flush_out(std::FILE* stream);

// At the end of a command: the status, or where all else went well that of EH-P50, told on standard error,
// when something that was printed did not arrive. A full disk or a closed pipe must not look like success.
int finish_stdout(int status);

}  // namespace enginehost::commands
