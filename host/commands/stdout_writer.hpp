// Writes standard output, and reports if not all of it arrived.
#pragma once
#include <cstdio>
#include <string_view>

namespace enginehost::commands {

// Writes to standard output and keeps the first error, because a stream forgets it and a later flush may
// succeed. All output goes through this function.
void write_out(std::FILE* stream, std::string_view text);

// Flushes the stream and keeps the first error.
void flush_out(std::FILE* stream);

// Returns the status of a command at its end. If output did not arrive, prints EH-P50 to standard error, and
// returns its status instead of 0: a full disk or a closed pipe must not look like success.
int finish_stdout(int status);

}  // namespace enginehost::commands
