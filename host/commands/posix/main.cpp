#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <initializer_list>
#include <string_view>

#include "host/commands/entry.hpp"
#include "host/explain/explain.hpp"

namespace {

// Occupies the descriptors of standard streams that the caller closed, because the next opened file would
// take their number and get the printed text. They are opened in the wrong direction, so that using them
// still fails.
void hold_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) == -1 && errno == EBADF)
      (void)::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

// Libraries allocate for their static objects before main(), and without memory the process would end by
// std::terminate(). `trial` is volatile so that the allocation takes place.
[[gnu::constructor(101)]] void end_without_memory_to_start() {
  constexpr std::size_t enough = 256u << 10;
  void* volatile trial = std::malloc(enough);
  if (trial == nullptr) {
    constexpr std::string_view text =
        "EH-P51  this process ran out of memory\n  fix         close other programs, or raise the limits of "
        "this one: memory of the container or job, ulimit -v\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
    ::_exit(static_cast<int>(enginehost::explain::ExitStatus::cache));
  }
  std::free(trial);
}

}  // namespace

int main(int argc, char** argv) {
  hold_closed_streams();
  // Ignored so that a limit on the size of files (ulimit -f) makes the write fail instead of ending the
  // process. Children start with the system's default.
  (void)::signal(SIGXFSZ, SIG_IGN);
  // A parent that ignores SIGCHLD passes that on, and the system then keeps no status of this command's
  // children.
  (void)::signal(SIGCHLD, SIG_DFL);
  return engine_command_ended(ENGINEHOST_COMMAND(argc, argv));
}
