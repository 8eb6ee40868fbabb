#include "host/load/helper/this_process.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <typeinfo>

#include "host/load/helper/posix/process.hpp"

namespace enginehost::helper {
namespace {

// Set once before a build's code runs, and only read by the handler.
int channel = -1;
const char* proof = "";
std::uintptr_t stack_low = 0, stack_high = 0;
alignas(16) char alternate_stack[128 * 1024];

constexpr int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP};

const char* object_at(std::uintptr_t address) {
  Dl_info info{};
  return ::dladdr(reinterpret_cast<void*>(address), &info) != 0 && info.dli_fname != nullptr ? info.dli_fname
                                                                                             : "";
}

const char* file_name(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

// abort() and waits end inside the C library. Return addresses on the stack show whose code called it.
// Unwinding would need libgcc_s, of which an engine may bring another version.
const char* caller_on_stack(std::uintptr_t pointer) {
  if (pointer < stack_low || pointer >= stack_high) return "";
  constexpr std::size_t most_words = 16384;
  const auto* word = reinterpret_cast<const std::uintptr_t*>(pointer & ~std::uintptr_t{7});
  for (std::size_t i = 0; i < most_words && reinterpret_cast<std::uintptr_t>(word + i + 1) <= stack_high; ++i)
    if (const char* object = object_at(word[i]); !is_systems_own(file_name(object))) return object;
  return "";
}

// Reads an exception that a plugin threw across its C functions: the unwinder ends in frames of this program,
// whose runtime terminates (__wrap_dlopen keeps constructors from getting this far). It allocates, so it
// runs only when there is an exception.
void read_exception(const char*& type, const char*& what) {
  const std::type_info* thrown = abi::__cxa_current_exception_type();
  if (thrown == nullptr) return;
  int status = 0;
  type = abi::__cxa_demangle(thrown->name(), nullptr, nullptr, &status);
  if (type == nullptr) type = thrown->name();
  try {
    throw;
  } catch (const std::exception& exception) {
    static char text[512];
    std::snprintf(text, sizeof text, "%s", exception.what());
    what = text;
  } catch (...) {
  }
}

// Writes a path as JSON text. Unusual characters are replaced, because allocation is not allowed here.
void quote(const char* text, char* out, std::size_t room) {
  std::size_t i = 0;
  for (; text[i] != '\0' && i + 1 < room; ++i)
    out[i] = text[i] == '"' || text[i] == '\\' || static_cast<unsigned char>(text[i]) < 0x20 ? '?' : text[i];
  out[i] = '\0';
}

// Kernels enter a handler with the stack aligned as a function expects it. QEMU's user mode does not (7.2: 8
// bytes off on x86-64). The first aligned store of a vector register would then be a second fault, which
// would be reported instead of the first.
#if defined(__x86_64__) || defined(__i386__)
__attribute__((force_align_arg_pointer))
#endif
void on_signal(int number, siginfo_t* info, void* raw_context) {
  const auto* context = static_cast<const ucontext_t*>(raw_context);
  const std::uintptr_t at = instruction_pointer(context), stack = stack_pointer(context);
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const char* object = object_at(at);
  if (number == SIGABRT || is_systems_own(file_name(object))) {
    const char* caller = caller_on_stack(stack);
    // A fault inside the loader itself is attributed to the loader: it was reading a damaged file.
    if (*caller != '\0' && (number == SIGABRT || !is_loader(file_name(object)))) object = caller;
  }
  constexpr std::uintptr_t near = 64 * 1024;
  const bool overflow =
      number == SIGSEGV && ((address + near > stack && address < stack + near) ||
                            (stack < stack_low && address >= stack && address < stack_high));
  const char *type = "", *what = "";
  if (number == SIGABRT) read_exception(type, what);
  char instruction[9], library[1024], thrown[256], message[512], line[3072];
  quote(type, thrown, sizeof thrown);
  quote(what, message, sizeof message);
  read_instruction(at, instruction);
  quote(object, library, sizeof library);
  const MemoryUse memory = memory_use();
  const int length = std::snprintf(
      line, sizeof line,
      "\n{\"nonce\":\"%s\",\"crash\":{\"signal\":%d,\"address\":\"0x%llx\",\"in_library\":\"%s\","
      "\"instruction\":\"%s\",\"stack_overflow\":%s,\"threads\":%d,\"first_thread\":%s,\"exception\":\"%s\","
      "\"what\":\"%s\"},\"memory\":[%llu,%llu,%llu,%llu]}\n",
      proof, number, static_cast<unsigned long long>(address), library, instruction,
      overflow ? "true" : "false", count_threads(), is_first_thread() ? "true" : "false", thrown, message,
      static_cast<unsigned long long>(memory.bytes), static_cast<unsigned long long>(memory.limit),
      static_cast<unsigned long long>(memory.space), static_cast<unsigned long long>(memory.space_limit));
  if (length > 0 && ::write(channel, line, static_cast<std::size_t>(length)) < 0) {
    // nobody reads the channel any more
  }
  ::signal(number, SIG_DFL);
  ::raise(number);
}

}  // namespace

void report_crashes(int descriptor, const char* nonce) {
  channel = descriptor;
  proof = nonce;
  find_stack(stack_low, stack_high);
  stack_t alternate{};
  alternate.ss_sp = alternate_stack;
  alternate.ss_size = sizeof alternate_stack;
  ::sigaltstack(&alternate, nullptr);
  struct sigaction action {};
  action.sa_sigaction = &on_signal;
  action.sa_flags = static_cast<int>(SA_SIGINFO | SA_ONSTACK | SA_RESETHAND);
  for (const int number : signals) ::sigaction(number, &action, nullptr);
}

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

std::string nvml_of_older_drivers() { return {}; }

}  // namespace enginehost::helper
