#include "host/commands/say.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <string>
#include <utility>

#include "base/environment.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "host/commands/system.hpp"
#include "host/explain/explain.hpp"
#include "host/transfer/progress_bar.hpp"

namespace enginehost::commands {
namespace {

int first_error = 0;  // errno

}  // namespace

void write_out(std::FILE* stream, std::string_view text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stream) != text.size() && first_error == 0)
    first_error = errno;
}

void flush_out(std::FILE* stream) {
  errno = 0;
  if (std::fflush(stream) != 0 && first_error == 0) first_error = errno;
}

int finish_stdout(int status) {
  std::FILE* const stream = documents();
  flush_out(stream);
  if (first_error == 0 && std::ferror(stream) == 0) return status;
  Diagnosis diagnosis = first_error != 0 ? diagnose_errno(Code::output_not_written, first_error)
                                         : diagnose(Code::output_not_written);
  const OutputFile file = file_behind(stream);
  if (first_error == EBADF) diagnosis.with(Key::closed, "yes");
  if (!file.name.empty()) diagnosis.with(Key::file, file.name);
  if (file.size) diagnosis.with(Key::size, std::to_string(*file.size));
  std::fprintf(stderr, "%s\n", explain::describe(diagnosis).c_str());
  return status == 0 ? static_cast<int>(explain::exit_status(diagnosis)) : status;
}

namespace {

void put_text(std::FILE* stream, std::string_view text) {
  const std::string shown = printable(without_passwords(text));
  if (stream == stdout)
    write_out(stream, shown);
  else
    std::fwrite(shown.data(), 1, shown.size(), stream);
}

void put(std::FILE* stream, const char* format, std::va_list values) {
  std::va_list again;
  va_copy(again, values);
  const int length = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  if (length < 0) return;
  std::string text(static_cast<std::size_t>(length), '\0');
  std::vsnprintf(text.data(), text.size() + 1, format, values);
  put_text(stream, text);
}

}  // namespace

void say(const char* format, ...) {
  std::va_list values;
  va_start(values, format);
  put(stdout, format, values);
  va_end(values);
}

void say_aside(const char* format, ...) {
  std::va_list values;
  va_start(values, format);
  put(stderr, format, values);
  va_end(values);
}

void say_text(std::string_view text) { put_text(stdout, text); }

void say_aside_text(std::string_view text) { put_text(stderr, text); }

namespace {

constexpr std::size_t narrowest = 40;

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

std::string labeled(std::string_view label, const std::string& text) {
  std::string out = "  " + std::string(label);
  out.append(out.size() < 16 ? 16 - out.size() : 1, ' ');
  return out + printable_line(text) + "\n";
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
