#include "tools/commands/passphrase.hpp"

#include <termios.h>
#include <unistd.h>

#include <cerrno>

namespace enginehost::commands {

std::optional<std::string> read_line(int descriptor) {
  std::string line;
  char c = 0;
  ssize_t got = 0;
  errno = 0;
  while ((got = ::read(descriptor, &c, 1)) == 1 && c != '\n') line += c;
  if (got <= 0 && line.empty()) return std::nullopt;
  return line;
}

std::string read_line_unseen() {
  termios before{};
  ::tcgetattr(STDIN_FILENO, &before);
  termios silent = before;
  silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
  ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent);
  std::string line = read_line(STDIN_FILENO).value_or("");
  ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
  return line;
}

}  // namespace enginehost::commands
