#include "host/load/helper/this_process.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/event.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace enginehost::helper {

namespace {

// macOS has no signal for a parent's death: one thread waits for it.
void* end_with_parent(void*) {
  struct kevent change {};
  change.ident = static_cast<uintptr_t>(::getppid());
  change.filter = EVFILT_PROC;
  change.flags = EV_ADD | EV_ENABLE;
  change.fflags = NOTE_EXIT;
  struct kevent end {};
  const int queue = ::kqueue();
  // The parent may be gone already: then process 1 is the parent, and there is nothing to wait for.
  if (queue >= 0 && change.ident > 1 && ::kevent(queue, &change, 1, &end, 1, nullptr) != 1) return nullptr;
  ::kill(::getpid(), SIGKILL);
  return nullptr;
}

}  // namespace

void prepare_process() {
  pthread_t watcher;
  if (::getppid() > 1 && ::pthread_create(&watcher, nullptr, &end_with_parent, nullptr) == 0)
    ::pthread_detach(watcher);
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
  // Started by hand, 3 may be any file of the caller's: only a pipe or socket is a parent that listens.
  if (::lseek(given, 0, SEEK_CUR) >= 0 || errno != ESPIPE) return -1;
  int taken = -1;
  // As high as the limit of open files lets it (EINVAL above that).
  for (int from = out_of_reach; taken < 0 && from > given; from /= 2)
    taken = ::fcntl(given, F_DUPFD_CLOEXEC, from);
  if (taken >= 0) ::close(given);
  return taken;
}

}  // namespace enginehost::helper
