#include "host/commands/say.hpp"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <string>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "host/commands/system.hpp"
#include "host/explain/explain.hpp"

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
  Diagnosis diagnosis = first_error != 0 ? diagnose_errno("EH-P50", first_error) : diagnose("EH-P50");
  const OutputFile file = file_behind(stream);
  if (first_error == EBADF) diagnosis.with("closed", "yes");
  if (!file.name.empty()) diagnosis.with("file", file.name);
  if (file.size) diagnosis.with("size", std::to_string(*file.size));
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

}  // namespace enginehost::commands
