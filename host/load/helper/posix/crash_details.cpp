#include "host/load/helper/posix/crash_details.hpp"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <initializer_list>

namespace enginehost::helper {
namespace {

// Reads through a pipe when process_vm_readv is not allowed (a sandbox) or missing (an emulator): write(2)
// returns EFAULT for an unmapped address.
bool read_through_pipe(std::uintptr_t address, unsigned char (&bytes)[4]) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
  const bool done = ::write(ends[1], reinterpret_cast<const void*>(address), sizeof bytes) == sizeof bytes &&
                    ::read(ends[0], bytes, sizeof bytes) == sizeof bytes;
  ::close(ends[0]);
  ::close(ends[1]);
  return done;
}

}  // namespace

std::uintptr_t instruction_pointer(const ucontext_t* context) {
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(context->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return context->uc_mcontext.pc;
#else
  return 0;
#endif
}

std::uintptr_t stack_pointer(const ucontext_t* context) {
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(context->uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return context->uc_mcontext.sp;
#else
  return 0;
#endif
}

bool is_systems_own(const char* name) {
  for (const char* own : {"libc.so", "ld-linux", "ld-musl", "libpthread", "libstdc++", "libgcc_s",
                          "linux-vdso", "enginehost-probe"})
    if (std::strncmp(name, own, std::strlen(own)) == 0) return true;
  return *name == '\0';
}

bool is_loader(const char* name) { return std::strncmp(name, "ld-", 3) == 0; }

void read_instruction(std::uintptr_t address, char (&text)[9]) {
  unsigned char bytes[4];
  iovec to{bytes, sizeof bytes};
  iovec from{reinterpret_cast<void*>(address), sizeof bytes};
  text[0] = '\0';
  if (::process_vm_readv(::getpid(), &to, 1, &from, 1, 0) == sizeof bytes ||
      read_through_pipe(address, bytes))
    std::snprintf(text, sizeof text, "%02x%02x%02x%02x", bytes[0], bytes[1], bytes[2], bytes[3]);
}

int count_threads() {
  const int file = ::open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[4096];
  const ssize_t length = ::read(file, text, sizeof text - 1);
  ::close(file);
  if (length <= 0) return 0;
  text[length] = '\0';
  const char* at = std::strstr(text, "\nThreads:");
  int count = 0;
  for (at = at != nullptr ? at + 9 : ""; *at != '\0' && *at != '\n'; ++at)
    if (*at >= '0' && *at <= '9') count = count * 10 + (*at - '0');
  return count;
}

bool is_first_thread() { return ::gettid() == ::getpid(); }

// The kernel keeps the program's name at the top of the stack and lets it grow down to the limit.
// pthread_getattr_np would read and parse /proc/self/maps for the same.
void find_stack(std::uintptr_t& low, std::uintptr_t& high) {
  constexpr std::uintptr_t page = 4096;
  const auto name = static_cast<std::uintptr_t>(::getauxval(AT_EXECFN));
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (name < here) return;
  high = (name + page) & ~(page - 1);
  rlimit limit{};
  if (::getrlimit(RLIMIT_STACK, &limit) != 0) return;
  // Without a limit the stack ends where the next mapping begins; a fault near the stack pointer still shows
  // an overflow.
  low = limit.rlim_cur < high ? high - static_cast<std::uintptr_t>(limit.rlim_cur) : page;
}

}  // namespace enginehost::helper
