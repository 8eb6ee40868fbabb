// Child processes with a deadline: what may crash, hang or lie runs here and not in the host.
#pragma once
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "base/result.hpp"

namespace enginehost {

struct ChildRequest {
  std::vector<std::string> argv;  // argv[0] is an absolute path, or is looked up in PATH
  // Variables added to or replacing the inherited ones ("NAME=value"; "NAME" alone removes it).
  std::vector<std::string> environment;
  std::string input;  // what the child finds on standard input, then end of file
  std::chrono::milliseconds deadline{30'000};
  std::size_t keep_bytes = 64 * 1024;    // the last ones of stderr, the first ones of stdout
  std::optional<std::size_t> output_bytes;  // of stdout, where that is another bound
  std::size_t channel_bytes = 1u << 20;  // the first ones of the private channel
  bool private_channel = false;  // the child may write to file descriptor 3: arrives as ChildOutcome::channel
  bool discard_output = false;   // stdout goes to /dev/null
  std::optional<CancelToken> cancel;
};

struct ChildOutcome {
  bool timed_out = false;
  bool canceled = false;
  bool survived_kill = false;  // SIGKILL did not end it in time (stuck in a driver); it was left behind
  int exit_code = -1;          // -1 when ended by a signal
  int signal = 0;
  std::uint32_t exception =
      0;  // Windows: the code of the exception that ended it; `signal` is the like of it
  std::string output, error, channel;
  std::chrono::milliseconds duration{0};
  bool succeeded() const { return exit_code == 0 && !timed_out && !canceled; }
};

// Runs a program to its end with posix_spawn (never fork: a host with a driver open or a large heap must not
// be copied), in a process group of its own. At the deadline the group gets SIGABRT, so that a crash handler
// can speak, then SIGKILL 1 s later. The wait never exceeds deadline + 3 s, even for a child that cannot be
// killed. On Windows the group is a job object, which is ended at once: there is no signal to speak in; the
// private channel is descriptor 3 there too, by way of the C runtime. Signal mask and handlers of the child
// are the defaults, and it inherits no descriptor of the host. Fails with EH-P20, or what
// code_of_start_error() says ("program", errno facts), when it cannot be started. Any thread; blocks.
Result<ChildOutcome> run_child(const ChildRequest& request);

// EH-P51 where the system gives no process or memory, EH-P20 otherwise.
inline std::string_view code_of_start_error(int error_number) {
  return error_number == EAGAIN || error_number == ENOMEM ? "EH-P51" : "EH-P20";
}

// "SIGSEGV", or "signal 61".
std::string signal_name(int signal);

}  // namespace enginehost
