#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>

#include "host/commands/program.hpp"

namespace {

// Occupies the descriptors of standard streams that the caller closed, because the next opened file would
// take their number and get the printed text. They are opened in the wrong direction, so that using them
// still fails.
void hold_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) == -1 && errno == EBADF)
      (void)::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
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
  return enginehost::commands::ended(enginehost::commands::run_program(argc, argv));
}
