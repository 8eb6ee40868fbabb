#include "host/load/helper/posix/end_with_parent.hpp"

#include <pthread.h>
#include <sys/event.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>

namespace enginehost::helper {

namespace {

// macOS has no signal for a parent's death, so one thread waits for it.
void* wait_for_parent(void*) {
  struct kevent change {};
  change.ident = static_cast<std::uintptr_t>(::getppid());
  change.filter = EVFILT_PROC;
  change.flags = EV_ADD | EV_ENABLE;
  change.fflags = NOTE_EXIT;
  struct kevent end {};
  const int queue = ::kqueue();
  // If the parent is gone already, process 1 is the parent and there is nothing to wait for.
  if (queue >= 0 && change.ident > 1 && ::kevent(queue, &change, 1, &end, 1, nullptr) != 1) return nullptr;
  ::kill(::getpid(), SIGKILL);
  return nullptr;
}

}  // namespace

void end_with_parent() {
  pthread_t watcher;
  if (::getppid() > 1 && ::pthread_create(&watcher, nullptr, &wait_for_parent, nullptr) == 0)
    ::pthread_detach(watcher);
}

}  // namespace enginehost::helper
