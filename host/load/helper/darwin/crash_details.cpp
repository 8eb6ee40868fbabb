#include "host/load/helper/posix/crash_details.hpp"

#include <libproc.h>
#include <mach/mach.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <initializer_list>

namespace enginehost::helper {

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

}  // namespace enginehost::helper
