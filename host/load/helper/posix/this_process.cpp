#include "host/load/helper/this_process.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "host/load/helper/posix/process.hpp"

namespace enginehost::helper {

void prepare_process() {
  end_with_parent();
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
}

void leave_at_once(int status) { ::_exit(status); }

void end_within(unsigned seconds, int, const char*) {
  ::signal(SIGALRM, SIG_DFL);
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  ::sigprocmask(SIG_UNBLOCK, &alarm, nullptr);
  ::alarm(seconds);
}

int take_private_channel() {
  constexpr int given = 3, out_of_reach = 200;
  // If the probe was started by hand, 3 may be any file of the caller's: only a pipe or socket is a parent's
  // channel.
  if (::lseek(given, 0, SEEK_CUR) >= 0 || errno != ESPIPE) return -1;
  int taken = -1;
  // As high as the limit of open files allows (EINVAL above it).
  for (int from = out_of_reach; taken < 0 && from > given; from /= 2)
    taken = ::fcntl(given, F_DUPFD_CLOEXEC, from);
  if (taken >= 0) ::close(given);
  return taken;
}

}  // namespace enginehost::helper
