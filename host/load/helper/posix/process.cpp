// The probe's process on Linux: facts for its crash handler, limits, state, libraries, and the end of what it
// started.
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <climits>
#include <clocale>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "base/files.hpp"
#include "base/text.hpp"
#include "host/load/helper/posix/process.hpp"
#include "host/load/helper/this_process.hpp"

namespace enginehost::helper {

void end_with_parent() { ::prctl(PR_SET_PDEATHSIG, SIGKILL); }

namespace {

// No engine has so many files open; beyond it, the kernel's memory for them matters.
constexpr rlim_t most_descriptors = 65536;

// Set once before a build's code runs.
std::uint64_t limit = 0, used_before = 0, space_limit = 0, page = 4096;

// Reads the beginning of a file of /proc, and terminates it. Without allocation, because a signal handler
// reads too. Empty if it cannot be read.
template <std::size_t size>
std::string_view read_proc(const char* path, char (&text)[size]) {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t length = file >= 0 ? ::read(file, text, size - 1) : -1;
  if (file >= 0) ::close(file);
  text[length > 0 ? length : 0] = '\0';
  return text;
}

constexpr int whole_column = 1, data_column = 6;

// Returns a number of /proc/self/statm, which counts in pages: the first is what RLIMIT_AS counts, the sixth
// what RLIMIT_DATA counts. 0 if it cannot be read.
std::uint64_t statm_bytes(int column) {
  char buffer[256];
  const std::string_view text = read_proc("/proc/self/statm", buffer);
  std::uint64_t number = 0;
  int spaces = 0;
  for (std::size_t at = 0; at < text.size() && spaces < column; ++at) {
    if (text[at] == ' ') {
      ++spaces;
      if (spaces < column) number = 0;
    } else if (text[at] >= '0' && text[at] <= '9') {
      number = number * 10 + static_cast<std::uint64_t>(text[at] - '0');
    }
  }
  return spaces >= column - 1 ? number * page : 0;
}

// Returns false if the caller's own limit is lower.
bool lower(decltype(RLIMIT_DATA) resource, rlim_t most) {
  rlimit now{};
  if (::getrlimit(resource, &now) != 0 || now.rlim_cur <= most) return false;
  now.rlim_cur = most;
  return ::setrlimit(resource, &now) == 0;
}

// When the machine or the container runs out of memory, the kernel ends this process and not the application.
void be_ended_first() {
  const FileDescriptor file(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  constexpr std::string_view most = "1000";
  if (file.valid() && ::write(file.get(), most.data(), most.size()) < 0) return;
}

}  // namespace

void set_limits(std::uint64_t memory_bytes) {
  lower(RLIMIT_NOFILE, most_descriptors);
  be_ended_first();
  if (const long size = ::sysconf(_SC_PAGESIZE); size > 0) page = static_cast<std::uint64_t>(size);
  if (rlimit space{}; ::getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
    space_limit = space.rlim_cur;
  used_before = statm_bytes(data_column);
  if (memory_bytes == 0 || used_before == 0) return;
  // The limit is for what the build takes; the shadow memory of a sanitizer counts as data, too.
  if (lower(RLIMIT_DATA, used_before + memory_bytes)) limit = memory_bytes;
}

MemoryUse memory_use() {
  MemoryUse use;
  if (space_limit != 0) use = {0, 0, statm_bytes(whole_column), space_limit};
  if (limit == 0) return use;
  const std::uint64_t now = statm_bytes(data_column);
  use.bytes = now > used_before ? now - used_before : 0;
  use.limit = limit;
  return use;
}

namespace {

std::string_view value_in(std::string_view status, std::string_view label) {
  const std::size_t at = status.find(label);
  if (at == std::string_view::npos) return {};
  status.remove_prefix(at + label.size());
  return trim(status.substr(0, status.find('\n')));
}

// Parses a signal set as the kernel writes it: signal N is bit N - 1, in hexadecimal.
std::optional<std::uint64_t> signal_set(std::string_view text) {
  if (text.empty() || text.size() > 16) return std::nullopt;
  std::uint64_t set = 0;
  for (const char c : text) {
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) return std::nullopt;
    set = set << 4 | static_cast<std::uint64_t>(digit);
  }
  return set;
}

const void* handler_of(int number) {
  struct sigaction action {};
  if (::sigaction(number, nullptr, &action) != 0) return nullptr;
  return (action.sa_flags & SA_SIGINFO) != 0 ? reinterpret_cast<const void*>(action.sa_sigaction)
                                             : reinterpret_cast<const void*>(action.sa_handler);
}

// Queries only the signals that the kernel lists as caught.
void look_at_handlers(std::string_view status, ProcessState& state) {
  const auto caught = signal_set(value_in(status, "\nSigCgt:"));
  const auto ignored = signal_set(value_in(status, "\nSigIgn:"));
  const bool known = caught && ignored;
  for (int number = 1; number < static_cast<int>(state.handlers.size()); ++number) {
    if (number >= 32 && number < SIGRTMIN)
      continue;  // used by the C library itself, set up with the first thread
    const std::uint64_t bit = std::uint64_t{1} << (number - 1);
    const void*& handler = state.handlers[static_cast<std::size_t>(number)];
    if (!known || (*caught & bit) != 0)
      handler = handler_of(number);
    else if ((*ignored & bit) != 0)
      handler = reinterpret_cast<const void*>(SIG_IGN);
  }
}

std::string open_descriptors() {
  struct stat folder {};
  // Since Linux 6.2 the size of this folder is the number of its entries.
  if (::stat("/proc/self/fd", &folder) == 0 && folder.st_size > 0) return std::to_string(folder.st_size);
  DIR* entries = ::opendir("/proc/self/fd");
  if (entries == nullptr) return {};
  std::size_t count = 0;
  while (const dirent* entry = ::readdir(entries)) count += entry->d_name[0] != '.' ? 1 : 0;
  ::closedir(entries);
  return std::to_string(count - 1);  // without the descriptor of this listing
}

}  // namespace

ProcessState look_at_process() {
  ProcessState state;
  // Without streams and std::filesystem: their tables and locales would be most of the cost of this small
  // process.
  char buffer[4096];
  const std::string_view status = read_proc("/proc/self/status", buffer);
  look_at_handlers(status, state);
  const char* const locale = std::setlocale(LC_ALL, nullptr);
  char folder[PATH_MAX];
  const char* const here = ::getcwd(folder, sizeof folder);
  state.shared = {
      {"the locale", locale != nullptr ? locale : ""},
      {"the current folder", here != nullptr ? here : ""},
      {"the umask", std::string(value_in(status, "\nUmask:"))},  // umask(2) would change it to read it
  };
  state.numbers = {{"the number of open descriptors", open_descriptors()},
                   {"the number of threads", std::string(value_in(status, "\nThreads:"))}};
  return state;
}

const char* const cuda_driver_library = "libcuda.so.1";
const char* const nvml_library = "libnvidia-ml.so.1";

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
  char text[4096];
  int count = 0;
  for (const char digit : value_in(read_proc("/proc/self/status", text), "\nThreads:"))
    if (digit >= '0' && digit <= '9') count = count * 10 + (digit - '0');
  return count;
}

bool is_first_thread() { return ::syscall(SYS_gettid) == ::getpid(); }

// The kernel keeps the program's name at the top of the stack and lets it grow down to the limit.
// pthread_getattr_np would read and parse /proc/self/maps for the same.
void find_stack(std::uintptr_t& low, std::uintptr_t& high) {
  constexpr std::uintptr_t page_size = 4096;
  const auto name = static_cast<std::uintptr_t>(::getauxval(AT_EXECFN));
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (name < here) return;
  high = (name + page_size) & ~(page_size - 1);
  rlimit stack{};
  if (::getrlimit(RLIMIT_STACK, &stack) != 0) return;
  // Without a limit the stack ends where the next mapping begins; a fault near the stack pointer still shows
  // an overflow.
  low = stack.rlim_cur < high ? high - static_cast<std::uintptr_t>(stack.rlim_cur) : page_size;
}

namespace {

constexpr timespec short_time{0, 5'000'000};
constexpr int most_waits = 200;  // for processes that do not end at once, such as those stuck in a driver

// "4711 (name) S 4710 …": the name may hold anything, so the last bracket counts.
pid_t parent_of(const char* process) {
  char path[64], text[512];
  std::snprintf(path, sizeof path, "/proc/%.20s/stat", process);
  read_proc(path, text);
  const char* after = std::strrchr(text, ')');
  return after != nullptr && std::strlen(after) > 4 ? static_cast<pid_t>(std::atoi(after + 4)) : -1;
}

// Only children of this process: nobody else can be hit. Their own children become ours when they end.
void kill_children() {
  DIR* const processes = ::opendir("/proc");
  if (processes == nullptr) return;
  const pid_t us = ::getpid();
  while (const dirent* entry = ::readdir(processes))
    if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && parent_of(entry->d_name) == us)
      ::kill(static_cast<pid_t>(std::atoi(entry->d_name)), SIGKILL);
  ::closedir(processes);
}

// Reaps the children that have ended. Returns true when others are left.
bool children_are_left() {
  pid_t ended = 0;
  while ((ended = ::waitpid(-1, nullptr, WNOHANG)) > 0) {
  }
  return ended == 0;
}

[[noreturn]] void end_by(int signal) {
  ::signal(signal, SIG_DFL);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  ::raise(signal);
  ::sigprocmask(SIG_UNBLOCK, &one, nullptr);
  ::_exit(128 + signal);
}

// The outer watcher ends an inner one that was stopped; what that one watched then belongs to the outer.
enum class Watcher { outer, inner };

[[noreturn]] void watch(pid_t probe, const sigset_t& signals, Watcher watcher) {
  int status = 0, asked_to_end = 0;
  for (;;) {
    const pid_t ended = ::waitpid(probe, &status, WNOHANG | (watcher == Watcher::outer ? WUNTRACED : 0));
    if (ended == probe && WIFSTOPPED(status)) {
      ::kill(probe, SIGKILL);
      continue;
    }
    if (ended == probe || (ended < 0 && errno != EINTR)) break;
    const int signal =
        asked_to_end != 0 ? ::sigtimedwait(&signals, nullptr, &short_time) : ::sigwaitinfo(&signals, nullptr);
    // A second one would end a probe of several threads in the middle of its report.
    if (signal == SIGABRT && ::getpgid(probe) != ::getpgrp()) ::kill(probe, SIGABRT);
    if (signal == SIGTERM || signal == SIGINT || signal == SIGHUP) asked_to_end = signal;
    if (asked_to_end != 0 && watcher == Watcher::inner) kill_children();
    // The inner one waits for a build that no signal ends.
    if (asked_to_end != 0 && watcher == Watcher::outer) ::kill(probe, SIGTERM);
  }
  for (int waits = 0; children_are_left() && waits < most_waits; ++waits) {
    kill_children();
    ::nanosleep(&short_time, nullptr);
  }
  if (asked_to_end != 0) end_by(asked_to_end);
  if (WIFSIGNALED(status)) end_by(WTERMSIG(status));
  ::_exit(WEXITSTATUS(status));
}

// Returns in the child; the process itself watches it. Returns false if no process can be started.
bool watched_child(Watcher watcher) {
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return false;
  sigset_t signals, before;
  sigemptyset(&signals);
  for (const int signal : {SIGCHLD, SIGABRT, SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  ::sigprocmask(SIG_BLOCK, &signals, &before);
  const pid_t probe = ::fork();
  if (probe <= 0) {
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    return probe == 0;
  }
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  watch(probe, signals, watcher);
}

}  // namespace

// Two watchers, because a build has the rights to stop or kill its parent: the outer one then ends what the
// inner one watched. The build gets a process group of its own, so that a signal to its group reaches no
// watcher.
void supervise() {
  if (!watched_child(Watcher::outer) || !watched_child(Watcher::inner)) return;
  ::setpgid(0, 0);
}

}  // namespace enginehost::helper

// The probe calls dlopen only through this frame (the linker's --wrap=dlopen), which no unwinder can pass.
//
// An uncaught exception of a constructor must end in the C++ runtime that threw it, which prints its type and
// message. Without the barrier the unwinder would go on into frames of this program. Its own, statically
// linked runtime cannot read the exception and aborts without a message. Code without unwind information ends
// the walk: _Unwind_RaiseException returns _URC_END_OF_STACK, so the thrower's __cxa_throw calls its own
// std::terminate.
#if defined(__x86_64__)
__asm__(
    ".text\n"
    ".globl __wrap_dlopen\n"
    ".type __wrap_dlopen, @function\n"
    "__wrap_dlopen:\n"
    "  subq $8, %rsp\n"
    "  call __real_dlopen@PLT\n"
    "  addq $8, %rsp\n"
    "  ret\n"
    ".size __wrap_dlopen, .-__wrap_dlopen\n");
#elif defined(__aarch64__)
__asm__(
    ".text\n"
    ".globl __wrap_dlopen\n"
    ".type __wrap_dlopen, %function\n"
    "__wrap_dlopen:\n"
    "  stp x29, x30, [sp, #-16]!\n"
    "  bl __real_dlopen\n"
    "  ldp x29, x30, [sp], #16\n"
    "  ret\n"
    ".size __wrap_dlopen, .-__wrap_dlopen\n");
#else
extern "C" void* __real_dlopen(const char* file, int mode);
extern "C" void* __wrap_dlopen(const char* file, int mode) { return __real_dlopen(file, mode); }
#endif
