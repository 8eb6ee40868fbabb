#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>

#include "host/commands/program.hpp"

namespace {

// Where the caller closed a standard stream, the next file that is opened would take its number, and what is
// printed would land in that file. Opened the wrong way round, so that using the stream fails as before.
void hold_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) == -1 && errno == EBADF)
      (void)::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

}  // namespace

int main(int argc, char** argv) {
  hold_closed_streams();
  // A limit on the size of files (ulimit -f) is told as the failure of the write that met it, not by the
  // signal's silence. Children begin with the signal as the system has it.
  (void)::signal(SIGXFSZ, SIG_IGN);
  return enginehost::commands::ended(enginehost::commands::run_program(argc, argv));
}
