// Text for people. All of it goes through printable(), because names, licenses and reasons come from other
// people's manifests and must not control the terminal. Documents (--json) are printed elsewhere.
#pragma once
#include <cstdio>
#include <string_view>

// The format checks of printf. GCC takes the plain name for Microsoft's library, which MinGW does not use.
#if defined(__MINGW32__) && !defined(__clang__)
#define ENGINEHOST_SAYS_AS_PRINTF [[gnu::format(gnu_printf, 1, 2)]]
#elif defined(__GNUC__)
#define ENGINEHOST_SAYS_AS_PRINTF [[gnu::format(printf, 1, 2)]]
#else
#define ENGINEHOST_SAYS_AS_PRINTF
#endif

namespace enginehost::commands {

// Prints on standard output, as printf.
ENGINEHOST_SAYS_AS_PRINTF void say(const char* format, ...);

// Prints on standard error.
ENGINEHOST_SAYS_AS_PRINTF void say_aside(const char* format, ...);

// The same for a text of any bytes. Use these for texts of others: "%s" ends at the first NUL.
void say_text(std::string_view text);
void say_aside_text(std::string_view text);

// Writes to standard output and keeps the first error, because a stream forgets it and a later flush may
// succeed. All output goes through this function.
void write_out(std::FILE* stream, std::string_view text);

// Flushes the stream and keeps the first error.
void flush_out(std::FILE* stream);

// Returns the status of a command at its end. If output did not arrive, prints EH-P50 to standard error, and
// returns its status instead of 0: a full disk or a closed pipe must not look like success.
int finish_stdout(int status);

}  // namespace enginehost::commands
