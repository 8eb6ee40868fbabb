#include "host/commands/system.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <cstdio>

#include "base/environment.hpp"
#include "base/printable.hpp"
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

namespace {

std::FILE* kept = nullptr;

// Redirects standard output to standard error. If standard error is closed, printed text is lost, but the
// document stays alone.
bool lead_to_errors() {
  if (::dup2(STDERR_FILENO, STDOUT_FILENO) >= 0) return true;
  const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nothing < 0) return false;
  const bool done = ::dup2(nothing, STDOUT_FILENO) >= 0;
  ::close(nothing);
  return done;
}

}  // namespace

void keep_output_for_documents() {
  if (kept != nullptr) return;
  std::fflush(stdout);
  const int copy = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (copy < 0) return;
  std::FILE* const stream = ::fdopen(copy, "w");
  if (stream == nullptr || !lead_to_errors()) {
    stream != nullptr ? static_cast<void>(std::fclose(stream)) : static_cast<void>(::close(copy));
    return;
  }
  kept = stream;
}

std::FILE* documents() { return kept != nullptr ? kept : stdout; }

OutputFile file_behind(std::FILE* stream) {
  OutputFile file;
  const int number = ::fileno(stream);
  struct stat status {};
  if (::fstat(number, &status) != 0 || !S_ISREG(status.st_mode)) return file;
  file.size = static_cast<std::uint64_t>(status.st_size);
  char name[PATH_MAX + 1] = {};
#ifdef F_GETPATH
  if (::fcntl(number, F_GETPATH, name) != 0) name[0] = '\0';
#else
  const std::string link = "/proc/self/fd/" + std::to_string(number);
  if (::readlink(link.c_str(), name, sizeof name - 1) < 0) name[0] = '\0';
#endif
  file.name = name;
  return file;
}

void leave_at_once(int status) {
  std::fflush(stdout);
  std::fflush(documents());
  ::_exit(status);
}

bool gets_no_thread() {
  pthread_t thread;
  if (::pthread_create(
          &thread, nullptr, [](void* nothing) { return nothing; }, nullptr) != 0)
    return true;
  ::pthread_join(thread, nullptr);
  return false;
}

void set_system_layer_umask() {
  constexpr mode_t read_and_enter = 0055;
  const mode_t before = ::umask(077);
  ::umask(before & ~read_and_enter);
}

}  // namespace enginehost::commands
