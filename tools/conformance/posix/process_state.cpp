#include "tools/conformance/process_state.hpp"

#include "tools/conformance/paths.hpp"

#include <signal.h>
#include <sys/stat.h>
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
#include <filesystem>

namespace engineplugin {
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

}  // namespace engineplugin
