#include "host/load/helper/process_state.hpp"

#include <libproc.h>
#include <signal.h>
#include <unistd.h>

#include <climits>
#include <clocale>

namespace enginehost::helper {

// The umask stays unknown: reading it means changing it, which other threads could see.
ProcessState look_at_process() {
  ProcessState state;
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action {};
    if (::sigaction(number, nullptr, &action) != 0) continue;
    state.handlers[static_cast<std::size_t>(number)] =
        (action.sa_flags & SA_SIGINFO) != 0 ? reinterpret_cast<const void*>(action.sa_sigaction)
                                            : reinterpret_cast<const void*>(action.sa_handler);
  }
  if (const char* locale = std::setlocale(LC_ALL, nullptr)) state.locale = locale;
  char folder[PATH_MAX];
  if (::getcwd(folder, sizeof folder) != nullptr) state.folder = folder;
  const int listed = ::proc_pidinfo(::getpid(), PROC_PIDLISTFDS, 0, nullptr, 0);
  if (listed > 0) {
    // The reported size is an upper bound; the list itself is exact.
    std::vector<proc_fdinfo> open(static_cast<std::size_t>(listed) / sizeof(proc_fdinfo) + 16);
    const int filled = ::proc_pidinfo(::getpid(), PROC_PIDLISTFDS, 0, open.data(),
                                      static_cast<int>(open.size() * sizeof(proc_fdinfo)));
    if (filled > 0) state.descriptors = static_cast<std::size_t>(filled) / sizeof(proc_fdinfo);
  }
  proc_taskinfo info{};
  if (::proc_pidinfo(::getpid(), PROC_PIDTASKINFO, 0, &info, sizeof info) == static_cast<int>(sizeof info))
    state.threads = static_cast<std::size_t>(info.pti_threadnum);
  return state;
}

}  // namespace enginehost::helper
