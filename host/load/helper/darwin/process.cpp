// The probe's process on macOS: facts for its crash handler, limits, state and libraries.
#include <libproc.h>
#include <mach/mach.h>
#include <pthread.h>
#include <signal.h>
#include <sys/event.h>
#include <sys/resource.h>
#include <unistd.h>
#include <climits>
#include <clocale>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>

#include "host/load/helper/posix/process.hpp"
#include "host/load/helper/this_process.hpp"

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

// The kernel of macOS does not apply RLIMIT_DATA to mapped memory.
void set_limits(std::uint64_t) {
  constexpr rlim_t most_descriptors = 65536;
  rlimit now{};
  if (::getrlimit(RLIMIT_NOFILE, &now) != 0 || now.rlim_cur <= most_descriptors) return;
  now.rlim_cur = most_descriptors;
  ::setrlimit(RLIMIT_NOFILE, &now);
}

MemoryUse memory_use() { return {}; }

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
  const char* const locale = std::setlocale(LC_ALL, nullptr);
  char folder[PATH_MAX];
  const char* const here = ::getcwd(folder, sizeof folder);
  state.shared = {{"the locale", locale != nullptr ? locale : ""},
                  {"the current folder", here != nullptr ? here : ""}};
  const int listed = ::proc_pidinfo(::getpid(), PROC_PIDLISTFDS, 0, nullptr, 0);
  if (listed > 0) {
    // The reported size is an upper bound; the list itself is exact.
    std::vector<proc_fdinfo> open(static_cast<std::size_t>(listed) / sizeof(proc_fdinfo) + 16);
    const int filled = ::proc_pidinfo(::getpid(), PROC_PIDLISTFDS, 0, open.data(),
                                      static_cast<int>(open.size() * sizeof(proc_fdinfo)));
    if (filled > 0)
      state.numbers.emplace_back("the number of open descriptors",
                                 std::to_string(static_cast<std::size_t>(filled) / sizeof(proc_fdinfo)));
  }
  if (const int threads = count_threads(); threads != 0)
    state.numbers.emplace_back("the number of threads", std::to_string(threads));
  return state;
}

// macOS has had no NVIDIA driver since 10.13: the libraries are not found, and the answer reports that.
const char* const cuda_driver_library = "libcuda.dylib";
const char* const nvml_library = "libnvidia-ml.dylib";

std::uintptr_t instruction_pointer(const ucontext_t* context) {
#if defined(__aarch64__)
  return static_cast<std::uintptr_t>(__darwin_arm_thread_state64_get_pc(context->uc_mcontext->__ss));
#else
  return static_cast<std::uintptr_t>(context->uc_mcontext->__ss.__rip);
#endif
}

std::uintptr_t stack_pointer(const ucontext_t* context) {
#if defined(__aarch64__)
  return static_cast<std::uintptr_t>(__darwin_arm_thread_state64_get_sp(context->uc_mcontext->__ss));
#else
  return static_cast<std::uintptr_t>(context->uc_mcontext->__ss.__rsp);
#endif
}

bool is_systems_own(const char* name) {
  for (const char* own :
       {"libsystem_", "libSystem.", "libc++", "libdyld", "libunwind", "dyld", "enginehost-probe"})
    if (std::strncmp(name, own, std::strlen(own)) == 0) return true;
  return *name == '\0';
}

bool is_loader(const char* name) { return std::strcmp(name, "dyld") == 0; }

void read_instruction(std::uintptr_t address, char (&text)[9]) {
  unsigned char bytes[4];
  vm_size_t got = 0;
  text[0] = '\0';
  if (::vm_read_overwrite(mach_task_self(), address, sizeof bytes, reinterpret_cast<vm_address_t>(bytes),
                          &got) == KERN_SUCCESS &&
      got == sizeof bytes)
    std::snprintf(text, sizeof text, "%02x%02x%02x%02x", bytes[0], bytes[1], bytes[2], bytes[3]);
}

int count_threads() {
  proc_taskinfo info{};
  const int size = ::proc_pidinfo(::getpid(), PROC_PIDTASKINFO, 0, &info, sizeof info);
  return size == static_cast<int>(sizeof info) ? info.pti_threadnum : 0;
}

bool is_first_thread() { return ::pthread_main_np() == 1; }

void find_stack(std::uintptr_t& low, std::uintptr_t& high) {
  high = reinterpret_cast<std::uintptr_t>(::pthread_get_stackaddr_np(::pthread_self()));
  low = high - ::pthread_get_stacksize_np(::pthread_self());
}

// macOS lets no process adopt what its descendants leave behind.
void supervise() {}

}  // namespace enginehost::helper
