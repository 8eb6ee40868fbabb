#include "host/commands/say.hpp"

#include <cstdarg>
#include <cstdio>
#include <string>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "host/commands/stdout_writer.hpp"

namespace enginehost::commands {
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

}  // namespace enginehost::commands
