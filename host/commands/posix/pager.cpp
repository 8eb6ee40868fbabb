#include "host/commands/pager.hpp"

#include <signal.h>
#include <sys/wait.h>

#include <cstdio>

#include "base/environment.hpp"
#include "base/printable.hpp"
#include "host/commands/terminal.hpp"

namespace enginehost::commands {
namespace {

constexpr int not_found = 127;  // the status of a shell that found no program

// The command of the pager; empty if there is none. It prints on standard error, where the question is.
std::string pager() {
  const std::string chosen = environment_variable("PAGER").value_or("");
  if (!chosen.empty()) return "{ " + chosen + "\n} >&2";
  const std::string terminal = environment_variable("TERM").value_or("");
  if (terminal.empty() || terminal == "dumb") return {};
  return "if command -v less >/dev/null 2>&1; then LESS=\"${LESS-FRX}\" exec less >&2; else exec more >&2; "
         "fi";
}

// A pager that ends early closes the pipe, which must not end this process.
class IgnoredPipeSignal {
 public:
  IgnoredPipeSignal() {
    struct sigaction ignored {};
    ignored.sa_handler = SIG_IGN;
    sigemptyset(&ignored.sa_mask);
    ::sigaction(SIGPIPE, &ignored, &before_);
  }
  IgnoredPipeSignal(const IgnoredPipeSignal&) = delete;
  IgnoredPipeSignal& operator=(const IgnoredPipeSignal&) = delete;
  ~IgnoredPipeSignal() { ::sigaction(SIGPIPE, &before_, nullptr); }

 private:
  struct sigaction before_ {};
};

}  // namespace

bool show_in_pager(const std::string& text, bool on_output) {
  if (!is_terminal(standard_input) || !is_terminal(standard_error)) return false;
  if (on_output && !is_terminal(::fileno(stdout))) return false;
  const std::string command = pager();
  if (command.empty()) return false;
  std::fflush(stdout);
  const IgnoredPipeSignal ignored;
  std::FILE* const pipe = ::popen(command.c_str(), "w");
  if (pipe == nullptr) return false;
  const std::string shown = printable(text) + "\n";
  std::fwrite(shown.data(), 1, shown.size(), pipe);
  const int status = ::pclose(pipe);
  return status != -1 && !(WIFEXITED(status) && WEXITSTATUS(status) == not_found);
}

}  // namespace enginehost::commands
