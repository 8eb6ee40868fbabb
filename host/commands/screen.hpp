// Text for a terminal: its width, words wrapped to it, and colors.
#pragma once
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace enginehost::commands {

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

// Returns the columns that the text takes; continuation bytes of UTF-8 take none.
std::size_t width_of(std::string_view text);
// Returns one line of a report: "  label         text\n", made printable.
std::string labeled(std::string_view label, const std::string& text);

// Returns the text with spaces behind it up to that width.
std::string padded(std::string text, std::size_t width);
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
