#include "base/posix/child_calls.hpp"

#include <fcntl.h>
#include <sys/event.h>
#include <unistd.h>

#include "base/child_process.hpp"

namespace enginehost {
namespace child {

// macOS has no pipe2: between the two calls another thread may start a program that inherits the pipe.
// Children of EngineHost do not inherit it, because of POSIX_SPAWN_CLOEXEC_DEFAULT.
bool open_pipe(int (&ends)[2]) {
  if (::pipe(ends) != 0) return false;
  for (const int end : ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);
  return true;
}

// posix_spawnattr_setflags(2): this flag closes every descriptor that no file action created.
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

// A kqueue(2) is a descriptor that can be polled.
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

// The system's table has the names in lower case and without "SIG".
std::string signal_name(int signal) {
  if (signal <= 0 || signal >= NSIG || sys_signame[signal] == nullptr)
    return "signal " + std::to_string(signal);
  std::string name = "SIG";
  for (const char* at = sys_signame[signal]; *at != '\0'; ++at)
    name += *at >= 'a' && *at <= 'z' ? static_cast<char>(*at - 'a' + 'A') : *at;
  return name;
}

}  // namespace enginehost
