// Text for people. All of it goes through printable(), because names, licenses and reasons come from other
// people's manifests and must not control the terminal. Documents (--json) are printed elsewhere. On a
// terminal, text is wrapped to its width, and parts of it have colors.
#pragma once
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/columns.hpp"

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

// The properties of a stream that text for people depends on.
struct Screen {
  std::size_t width = 80;
  bool terminal = false;
  bool colored = false;
};

// Returns the terminal's width, or 80 columns without a terminal. Colors need a terminal, a TERM other than
// "dumb", and no NO_COLOR (https://no-color.org).
Screen screen_of(std::FILE* stream);

// The meanings of the colors: names are bold, what opens is green, fallbacks and doubts are yellow, legends
// are dim.
enum class Ink { name, good, doubtful, dim };

// Returns the text in that color, or unchanged without colors. The text must be printable already.
std::string inked(const Screen& screen, Ink ink, std::string_view text);

// Returns one line of a report: "  label         text\n", made printable.
std::string labeled(std::string_view label, const std::string& text);

// Returns the text, or its beginning with "…" so that it fits.
std::string shortened(const std::string& text, std::size_t width);

// Returns the text in lines of at most that width, broken at spaces. A longer word is broken behind one of
// "/:;,", and stays whole without them.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

// Returns a text of several lines with each line wrapped. Further lines begin below the value: behind the
// last gap of two or more spaces in the first half of the line, else behind the line's own indent.
std::string wrapped_lines(std::string_view text, std::size_t width);

// Prints text that may have colors. Everything else in it must be printable already: say() would escape the
// colors.
void say_inked(const std::string& text);

}  // namespace enginehost::commands
