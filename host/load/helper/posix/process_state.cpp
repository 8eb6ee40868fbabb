#include "host/load/helper/process_state.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <clocale>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/files.hpp"
#include "base/text.hpp"

namespace enginehost::helper {
namespace {

// Without streams and std::filesystem: their tables and locales would be most of the cost of this small
// process.
std::string status_of_process() {
  const FileDescriptor file(::open("/proc/self/status", O_RDONLY | O_CLOEXEC));
  char text[4096];
  const ssize_t length = file.valid() ? ::read(file.get(), text, sizeof text) : -1;
  return length > 0 ? std::string(text, static_cast<std::size_t>(length)) : std::string();
}

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

std::size_t open_descriptors() {
  struct stat folder {};
  // Since Linux 6.2 the size of this folder is the number of its entries.
  if (::stat("/proc/self/fd", &folder) == 0 && folder.st_size > 0)
    return static_cast<std::size_t>(folder.st_size);
  DIR* entries = ::opendir("/proc/self/fd");
  if (entries == nullptr) return 0;
  std::size_t count = 0;
  while (const dirent* entry = ::readdir(entries)) count += entry->d_name[0] != '.' ? 1 : 0;
  ::closedir(entries);
  return count - 1;  // without the descriptor of this listing
}

}  // namespace

ProcessState look_at_process() {
  ProcessState state;
  const std::string status = status_of_process();
  look_at_handlers(status, state);
  if (const char* locale = std::setlocale(LC_ALL, nullptr)) state.locale = locale;
  char folder[PATH_MAX];
  if (::getcwd(folder, sizeof folder) != nullptr) state.folder = folder;
  state.umask = value_in(status, "\nUmask:");  // umask(2) would have to change it to read it
  state.descriptors = open_descriptors();
  state.threads = static_cast<std::size_t>(parse_integer(value_in(status, "\nThreads:")).value_or(0));
  return state;
}

}  // namespace enginehost::helper
