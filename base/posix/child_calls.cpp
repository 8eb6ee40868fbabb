#include "base/posix/child_calls.hpp"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/child_process.hpp"

namespace enginehost {
namespace child {

bool open_pipe(int (&ends)[2]) { return ::pipe2(ends, O_CLOEXEC) == 0; }

void inherit_only(int first, posix_spawn_file_actions_t& actions, posix_spawnattr_t&) {
  posix_spawn_file_actions_addclosefrom_np(&actions, first);
}

void take_pending(const sigset_t& signals) {
  const timespec at_once{};
  sigtimedwait(&signals, nullptr, &at_once);
}

// Linux 5.3, pidfd_open(2).
FileDescriptor watch_for_end([[maybe_unused]] pid_t child) {
#ifdef SYS_pidfd_open
  return FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
#else
  return {};
#endif
}

}  // namespace child

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name != nullptr ? "SIG" + std::string(name) : "signal " + std::to_string(signal);
}

}  // namespace enginehost
