#include "tools/commands/passphrase.hpp"

#include <io.h>

#include <cerrno>

#include "base/windows/system.hpp"
#include "base/windows/wide.hpp"
#include "host/commands/system.hpp"

namespace enginehost::commands {
namespace {

// Reads UTF-16, because ReadFile would return text in the console's code page.
std::string read_console_line(HANDLE console) {
  std::wstring line;
  wchar_t c = 0;
  DWORD read = 0;
  while (::ReadConsoleW(console, &c, 1, &read, nullptr) != 0 && read == 1 && c != L'\n')
    if (c != L'\r') line += c;
  return windows::utf8(line);
}

}  // namespace

std::optional<std::string> read_line(int descriptor) {
  if (is_terminal(descriptor))
    return read_console_line(reinterpret_cast<HANDLE>(::_get_osfhandle(descriptor)));
  std::string line;
  char c = 0;
  int got = 0;
  errno = 0;
  while ((got = ::_read(descriptor, &c, 1)) == 1 && c != '\n') line += c;
  if (got <= 0 && line.empty()) return std::nullopt;
  if (line.ends_with('\r')) line.pop_back();
  return line;
}

std::string read_line_unseen() {
  const HANDLE console = ::GetStdHandle(STD_INPUT_HANDLE);
  DWORD before = 0;
  ::GetConsoleMode(console, &before);
  ::SetConsoleMode(console, before & ~static_cast<DWORD>(ENABLE_ECHO_INPUT));
  std::string line = read_console_line(console);
  ::SetConsoleMode(console, before);
  return line;
}

}  // namespace enginehost::commands
