#include "host/commands/terminal.hpp"

#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>

#include "host/history/sentinel.hpp"

namespace enginehost::commands {
namespace {

const CancelToken* token_of_signals = nullptr;

// Handles SIGHUP: a closing terminal may send it twice (the system and the shell), so a second one does not
// end the process at once.
void on_hangup(int) {
  if (token_of_signals != nullptr) token_of_signals->cancel();
}

void on_signal(int signal) {
  // A second Ctrl-C ends the process without waiting for an orderly end.
  if (token_of_signals == nullptr || token_of_signals->canceled()) {
    history::disown_what_stands();
    ::_exit(128 + signal);
  }
  token_of_signals->cancel();
}

}  // namespace

bool is_terminal(int descriptor) { return ::isatty(descriptor) == 1; }

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

CancelToken cancel_on_signal() {
  static const CancelToken token;
  token_of_signals = &token;
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  // If SIGHUP was ignored at the start (nohup), it stays ignored.
  struct sigaction before {};
  if (::sigaction(SIGHUP, nullptr, &before) != 0 || before.sa_handler == SIG_IGN) return token;
  action.sa_handler = on_hangup;
  ::sigaction(SIGHUP, &action, nullptr);
  return token;
}

}  // namespace enginehost::commands
