#include "base/posix/child_calls.hpp"

#include <fcntl.h>
#include <sys/event.h>
#include <unistd.h>

#include "base/child_process.hpp"

namespace enginehost {
namespace child {

// Between the calls another thread may start a program, which then has the pipe too: macOS has no pipe2. Our
// own children are started with POSIX_SPAWN_CLOEXEC_DEFAULT and do not.
bool open_pipe(int (&ends)[2]) {
  if (::pipe(ends) != 0) return false;
  for (const int end : ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);
  return true;
}

// posix_spawnattr_setflags(2): with this flag all is closed but what a file action made.
void inherit_only(int, posix_spawn_file_actions_t&, posix_spawnattr_t& attributes) {
  short flags = 0;
  posix_spawnattr_getflags(&attributes, &flags);
  posix_spawnattr_setflags(&attributes, static_cast<short>(flags | POSIX_SPAWN_CLOEXEC_DEFAULT));
}

void take_pending(const sigset_t& signals) {
  sigset_t pending;
  sigpending(&pending);
  for (int signal = 1; signal < NSIG; ++signal)
    if (sigismember(&signals, signal) == 1 && sigismember(&pending, signal) == 1) {
      int taken = 0;
      sigwait(&signals, &taken);
      return;
    }
}

// A queue of events is a descriptor that can be polled: kqueue(2).
FileDescriptor watch_for_end(pid_t child) {
  FileDescriptor queue(::kqueue());
  struct kevent end {};
  end.ident = static_cast<uintptr_t>(child);
  end.filter = EVFILT_PROC;
  end.flags = EV_ADD | EV_ENABLE;
  end.fflags = NOTE_EXIT;
  if (!queue.valid() || ::kevent(queue.get(), &end, 1, nullptr, 0, nullptr) != 0) return {};
  return queue;
}

}  // namespace child

// The system's table has them in lower case and without "SIG".
std::string signal_name(int signal) {
  if (signal <= 0 || signal >= NSIG || sys_signame[signal] == nullptr)
    return "signal " + std::to_string(signal);
  std::string name = "SIG";
  for (const char* at = sys_signame[signal]; *at != '\0'; ++at)
    name += *at >= 'a' && *at <= 'z' ? static_cast<char>(*at - 'a' + 'A') : *at;
  return name;
}

}  // namespace enginehost
