// Child processes with a deadline, for work that may crash, hang or return wrong data.
#pragma once
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.hpp"
#include "base/result.hpp"

namespace enginehost {

struct ChildRequest {
  // argv[0] is an absolute path, or is looked up in PATH. For programs of the system use run_by_name().
  std::vector<std::string> argv;
  // Variables that extend or replace the inherited ones ("NAME=value"; "NAME" alone removes it).
  std::vector<std::string> environment;
  std::string folder;  // the child's current folder; empty: this process's
  std::string input;   // written to standard input, followed by end of file
  std::chrono::milliseconds deadline{30'000};
  std::size_t keep_bytes = 64 * 1024;       // the last bytes of stderr, the first bytes of stdout
  std::optional<std::size_t> output_bytes;  // for stdout, if its limit differs from keep_bytes
  std::size_t channel_bytes = 1u << 20;     // the first bytes of the private channel
  bool private_channel = false;  // the child may write to file descriptor 3; see ChildOutcome::channel
  bool discard_output = false;   // stdout goes to /dev/null
  // The program ends all that it started, also outside of its group, when it gets SIGTERM. SIGKILL then
  // follows 2 s after SIGTERM. For POSIX systems.
  bool ends_descendants = false;
  std::uint64_t memory_bytes = 0;  // on Windows: what the job object may commit; 0: no limit
  std::optional<CancelToken> cancel;
};

struct ChildOutcome {
  bool timed_out = false;
  bool canceled = false;
  bool survived_kill = false;  // no signal ended it in time (stuck in a driver); it still runs
  bool status_lost = false;    // SIGCHLD is ignored here, or another part of this process took the status
  int exit_code = -1;          // -1 when ended by a signal, or lost
  int signal = 0;
  std::uint32_t exception = 0;  // Windows: the exception that ended it; `signal` is the nearest signal
  std::string output, error, channel;
  std::chrono::milliseconds duration{0};
  bool succeeded() const { return exit_code == 0 && !timed_out && !canceled; }
};

// Runs a program to its end, in a process group of its own. It uses posix_spawn, never fork, because a host
// with an open driver or a large heap must not be copied. At the deadline the group gets SIGABRT, so that a
// crash handler can report, and SIGKILL 1 s later (or SIGTERM first: see ends_descendants). The wait never
// exceeds deadline + 3 s, even for a child that cannot be killed. The child has default signal mask and
// handlers, and inherits no descriptor of the host.
//
// On Windows the group is a job object, which is ended at once because there is no SIGABRT. The private
// channel is descriptor 3 there too, through the C runtime.
//
// Errors: a program that cannot be started is EH-P20, or what code_of_start_error() returns ("program", errno
// facts). Thread safety: any thread; blocks.
Result<ChildOutcome> run_child(const ChildRequest& request);

// Programs that are found by name: python3, pip, gnuplot.

struct FoundProgram {
  std::filesystem::path file;  // absolute; empty: none
  std::vector<std::string>
      skipped;  // "ENTRY: why it was not used", for each entry of PATH that holds such a program
};

// Looks the program up in `path`, the value of PATH. Skips relative and empty entries, because the program
// would then depend on the current folder. Skips programs that another user could have put there
// (base/ownership.hpp). On Windows
// ".exe" is added to a name without an extension.
FoundProgram find_program(std::string_view name, std::string_view path);

// Runs the program argv[0] names, looked up in this process's PATH. It starts in the root folder, and Python
// programs take no module from the current folder (PYTHONSAFEPATH). A folder that somebody else prepared
// therefore runs no code. Errors: EH-P20 with "program", and "skipped" for each skipped entry; those of
// run_child().
Result<ChildOutcome> run_by_name(ChildRequest request);

// Returns EH-P51 if the system has no process or memory left, EH-P20 otherwise.
inline Code code_of_start_error(int error_number) {
  return error_number == EAGAIN || error_number == ENOMEM ? Code::out_of_memory : Code::probe_not_started;
}

// Why ChildOutcome::status_lost is set, for messages.
inline constexpr std::string_view lost_status =
    "this program ignores SIGCHLD, or takes the exit statuses of children that it did not start";

// Returns "SIGSEGV", or "signal 61".
std::string signal_name(int signal);

}  // namespace enginehost
