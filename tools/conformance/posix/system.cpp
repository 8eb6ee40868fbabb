#include "tools/conformance/system.hpp"

#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __APPLE__
#include <xlocale.h>
#else
#include <locale.h>
#endif

#include <cfenv>
#include <clocale>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <new>

namespace engineplugin {
const char* const how_opened = "dlopen, now and local";

void* open_library(const std::string& file) { return dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL); }

std::string last_error() {
  const char* text = dlerror();
  return text ? text : "dlopen gave no reason";
}

void close_library(void* library) { dlclose(library); }

bool is_loaded(const std::string& file) { return dlopen(file.c_str(), RTLD_NOW | RTLD_NOLOAD) != nullptr; }

void* find_symbol(void* library, const char* name) { return dlsym(library, name); }

std::filesystem::path file_of(const void* address) {
  Dl_info where{};
  return dladdr(address, &where) && where.dli_fname ? where.dli_fname : std::filesystem::path();
}

void* allocate_aligned(std::size_t bytes) { return std::aligned_alloc(64, (bytes + 63) / 64 * 64); }
void release_aligned(void* block) { std::free(block); }

namespace {

// Flush-to-zero, rounding and masks. The low six bits only record which exceptions occurred.
unsigned sse_mode_now() {
#ifdef __x86_64__
  return __builtin_ia32_stmxcsr() & ~0x3Fu;
#else
  return 0;
#endif
}

// The control word of the x87 unit, which computes long double.
unsigned x87_mode_now() {
  unsigned short word = 0;
#ifdef __x86_64__
  __asm__ volatile("fnstcw %0" : "=m"(word));
#endif
  return word;
}

std::string changed(const char* what, unsigned from, unsigned to) {
  char text[64];
  std::snprintf(text, sizeof text, " was changed from %04x to %04x", from, to);
  return what + std::string(text);
}

// Only descriptors that exist before a plugin is loaded are compared; others belong to the plugin.
std::map<int, std::string> open_descriptors() {
  std::vector<int> numbers;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error))
    numbers.push_back(std::atoi(entry.path().filename().c_str()));
  std::map<int, std::string> descriptors;
  for (const int number : numbers) {
    struct stat file {};
    if (fstat(number, &file) != 0) continue;  // the descriptor of this listing
    descriptors[number] =
        std::to_string(file.st_dev) + " " + std::to_string(file.st_ino) + " " + std::to_string(file.st_rdev);
  }
  return descriptors;
}

std::string name_of_descriptor(int number) {
  constexpr const char* streams[] = {"standard input", "standard output", "standard error"};
  return number < 3 ? streams[number]
                    : "descriptor " + std::to_string(number) + ", which the plugin did not open,";
}

}  // namespace

ProcessState ProcessState::now() {
  ProcessState state;
  sigset_t blocked;
  sigemptyset(&blocked);
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  for (int number = 1; number < NSIG; number++) {
    state.blocked_signals += sigismember(&blocked, number) == 1 ? '1' : '0';
    struct sigaction action {};
    sigaction(number, nullptr, &action);
    state.handlers.push_back(std::to_string(reinterpret_cast<std::uintptr_t>(action.sa_handler)));
  }
  state.locale = std::setlocale(LC_ALL, nullptr);
  std::error_code error;
  state.folder = path_text(std::filesystem::current_path(error));
  for (char** entry = environ; entry && *entry; entry++) state.environment.emplace_back(*entry);
  state.rounding = std::fegetround();
  state.sse_mode = sse_mode_now();
  state.x87_mode = x87_mode_now();
  state.thread_locale = uselocale(static_cast<locale_t>(nullptr));
  state.file_mask = umask(0);
  umask(state.file_mask);
  state.descriptors = open_descriptors();
  return state;
}

std::string ProcessState::difference(const ProcessState& later) const {
  for (std::size_t i = 0; i < handlers.size(); i++) {
    if (handlers[i] != later.handlers[i])
      return "the handler of signal " + std::to_string(i + 1) + " was changed";
  }
  if (blocked_signals != later.blocked_signals) return "the signal mask was changed";
  if (thread_locale != later.thread_locale) return "the thread was given a locale of its own (uselocale)";
  if (locale != later.locale) return "the locale was changed to " + later.locale;
  if (folder != later.folder) return "the current folder was changed to " + later.folder;
  if (environment != later.environment) return "the environment was changed";
  if (rounding != later.rounding) return "the rounding mode was changed";
  if (sse_mode != later.sse_mode) return changed("the floating-point mode (MXCSR)", sse_mode, later.sse_mode);
  if (x87_mode != later.x87_mode) return changed("the x87 control word", x87_mode, later.x87_mode);
  if (file_mask != later.file_mask) return "the file mode mask was changed";
  for (const auto& [number, file] : descriptors) {
    const auto now = later.descriptors.find(number);
    if (now == later.descriptors.end()) return name_of_descriptor(number) + " was closed";
    if (now->second != file) return name_of_descriptor(number) + " leads elsewhere";
  }
  return "";
}

int thread_count() {
  std::error_code error;
  int count = 0;
  for ([[maybe_unused]] const auto& task : std::filesystem::directory_iterator("/proc/self/task", error))
    count++;
  return count;
}

namespace {

// The process that runs the checks.
pid_t checking_process = 0;
SharedProgress* shared_progress = nullptr;

// The process group of the checks, for signal handlers.
volatile pid_t group_of_checks = 0;

// A signal that ends this process must also end the checks, which are in a group of their own.
void end_with_checks(int number) {
  kill(-group_of_checks, SIGKILL);
  signal(number, SIG_DFL);
  raise(number);
}

// `aside` stays open as a file of this program that a plugin must not touch; any host has some.
[[noreturn]] void run_checks(const Checks& checks, SharedProgress& progress, int aside) {
  if (dup2(aside, STDOUT_FILENO) < 0) _exit(3);
  setpgid(0, 0);
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  checking_process = getpid();
  shared_progress = &progress;
  checks(progress);
  std::exit(0);  // not _exit: the plugin's exit handlers are part of the check
}

// Also ends processes that the plugin started. The child is waited for last: until then its number cannot be
// reused.
int end_group(pid_t child) {
  kill(-child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

// Waits for the child. Returns how it ended, "" for exit status 0.
std::string wait_for(pid_t child, SharedProgress& progress, int seconds) {
  int seen = -1;
  int ticks = 0;
  constexpr int ticks_per_second = 50;
  for (;;) {
    siginfo_t done{};
    if (waitid(P_PID, static_cast<id_t>(child), &done, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        done.si_pid == child) {
      const int status = end_group(child);
      pass_lines_on(progress);
      if (WIFSIGNALED(status)) {
        return std::string("the process was killed by signal ") + std::to_string(WTERMSIG(status)) + " (" +
               strsignal(WTERMSIG(status)) + ") in this check";
      }
      const int code = WEXITSTATUS(status);
      if (progress.finished && code == 0) return progress.copies > 0 ? copy_came_back : "";
      return "the process ended itself with status " + std::to_string(code) + " in this check";
    }
    pass_lines_on(progress);
    if (progress.begun != seen) {
      seen = progress.begun;
      ticks = 0;
    } else if (++ticks > seconds * ticks_per_second) {
      end_group(child);
      pass_lines_on(progress);
      return "no answer within " + std::to_string(seconds) + " s";
    }
    usleep(1000000 / ticks_per_second);
  }
}

}  // namespace

void end_copy() {
  if (checking_process == 0 || getpid() == checking_process) return;
  shared_progress->copies++;
  _exit(1);  // without destructors, exit handlers and buffers: they belong to the original process
}

Supervised supervise(int, char**, const Checks& checks, int seconds, std::string& error) {
  void* shared =
      mmap(nullptr, sizeof(SharedProgress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) {
    error = "no shared memory";
    return {};
  }
  const int aside = memfd_create("stdout", MFD_CLOEXEC);
  if (aside < 0) {
    error = "no file for standard output";
    return {};
  }
  auto& progress = *new (shared) SharedProgress{};
  std::cout.flush();
  const pid_t child = fork();
  if (child < 0) {
    error = "no child process";
    return {};
  }
  if (child == 0) run_checks(checks, progress, aside);
  setpgid(child, child);  // here too: whichever comes first
  group_of_checks = child;
  for (const int number : {SIGHUP, SIGINT, SIGTERM}) {
    if (signal(number, end_with_checks) == SIG_IGN) signal(number, SIG_IGN);
  }
  std::string end = wait_for(child, progress, seconds);
  struct stat file {};
  fstat(aside, &file);
  close(aside);
  return {std::move(end), progress.check, progress.failures, static_cast<long>(file.st_size)};
}

}  // namespace engineplugin
