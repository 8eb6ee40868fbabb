#include "host/commands/screen.hpp"

#include <algorithm>
#include <utility>

#include "base/environment.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "host/commands/say.hpp"
#include "host/transfer/progress_bar.hpp"

namespace enginehost::commands {
namespace {

constexpr std::size_t narrowest = 40;

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0u) == 0x80u; }

// Returns the bytes of the first `columns` characters.
std::size_t bytes_of(std::string_view text, std::size_t columns) {
  std::size_t end = 0;
  for (; end < text.size(); ++end)
    if (!continues_character(text[end]) && columns-- == 0) break;
  return end;
}

// Returns the bytes of a long word up to the last separator that fits, else up to the first one; 0 if there
// is none.
std::size_t part_of_word(std::string_view word, std::size_t width) {
  constexpr std::string_view separators = "/:;,";
  std::size_t mark = word.substr(0, bytes_of(word, width)).find_last_of(separators);
  if (mark == std::string_view::npos) mark = word.find_first_of(separators);
  return mark == std::string_view::npos || mark + 1 == word.size() ? 0 : mark + 1;
}

}  // namespace

Screen screen_of(std::FILE* stream) {
  Screen screen;
  screen.terminal = transfer::is_terminal(stream);
  if (!screen.terminal) return screen;
  screen.width = std::max(transfer::columns_of(stream), narrowest);
  screen.colored =
      environment_variable("TERM") != "dumb" && environment_variable("NO_COLOR").value_or("").empty();
  return screen;
}

std::string inked(const Screen& screen, Ink ink, std::string_view text) {
  if (!screen.colored || text.empty()) return std::string(text);
  constexpr const char* codes[] = {"1", "32", "33", "2"};
  return std::string("\033[") + codes[static_cast<int>(ink)] + "m" + std::string(text) + "\033[0m";
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return !continues_character(c); }));
}

std::string labeled(std::string_view label, const std::string& text) {
  std::string out = "  " + std::string(label);
  out.append(out.size() < 16 ? 16 - out.size() : 1, ' ');
  return out + printable_line(text) + "\n";
}

std::string padded(std::string text, std::size_t width) {
  const std::size_t used = width_of(text);
  if (used < width) text.append(width - used, ' ');
  return text;
}

std::string shortened(const std::string& text, std::size_t width) {
  return width_of(text) <= width ? text : text.substr(0, bytes_of(text, width > 0 ? width - 1 : 0)) + "…";
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  for (const std::string& whole : split(text, ' ')) {
    std::string_view word = whole;
    if (word.empty()) continue;
    if (!lines.back().empty()) {
      if (width_of(lines.back()) + 1 + width_of(word) <= width) {
        lines.back() += " " + std::string(word);
        continue;
      }
      lines.emplace_back();
    }
    while (width_of(word) > width) {
      const std::size_t part = part_of_word(word, width);
      if (part == 0) break;
      lines.back() = word.substr(0, part);
      word.remove_prefix(part);
      lines.emplace_back();
    }
    lines.back() += word;
  }
  return lines;
}

std::string wrapped_lines(std::string_view text, std::size_t width) {
  std::string out;
  const bool ended = text.ends_with('\n');
  if (ended) text.remove_suffix(1);
  bool first = true;
  for (const std::string& line : split(text, '\n')) {
    if (!std::exchange(first, false)) out += "\n";
    if (width_of(line) <= width) {
      out += line;
      continue;
    }
    std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
    const std::size_t gap = line.substr(0, bytes_of(line, width / 2)).rfind("  ");
    if (gap != std::string::npos && gap >= begin)
      begin = std::min(line.find_first_not_of(' ', gap), line.size());
    const std::size_t indent = width_of(line.substr(0, begin));
    std::string margin = line.substr(0, begin);
    for (const std::string& part : wrapped(std::string_view(line).substr(begin), width - indent)) {
      out += margin + part;
      margin = "\n" + std::string(indent, ' ');
    }
  }
  return ended ? out + "\n" : out;
}

void say_inked(const std::string& text) { write_out(stdout, text); }

}  // namespace enginehost::commands
