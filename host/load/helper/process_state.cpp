#include "host/load/helper/process_state.hpp"

#include <signal.h>

#include <clocale>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "base/child_process.hpp"
#include "base/text.hpp"

namespace enginehost::helper {
namespace {

std::size_t entries_of(const char* folder) {
  std::error_code error;
  std::filesystem::directory_iterator at(folder, error), end;
  std::size_t count = 0;
  for (; !error && at != end; at.increment(error)) ++count;
  return count;
}

// umask(2) can only be read by changing it; the kernel's file tells without.
std::string umask_of_process() {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line))
    if (line.starts_with("Umask:")) return std::string(trim(std::string_view(line).substr(6)));
  return {};
}

}  // namespace

ProcessState look_at_process() {
  ProcessState state;
  for (int number = 1; number < static_cast<int>(state.handlers.size()); ++number) {
    struct sigaction action {};
    if (::sigaction(number, nullptr, &action) != 0) continue;
    state.handlers[static_cast<std::size_t>(number)] =
        (action.sa_flags & SA_SIGINFO) != 0 ? reinterpret_cast<const void*>(action.sa_sigaction)
                                            : reinterpret_cast<const void*>(action.sa_handler);
  }
  if (const char* locale = std::setlocale(LC_ALL, nullptr)) state.locale = locale;
  std::error_code error;
  state.folder = std::filesystem::current_path(error).native();
  state.umask = umask_of_process();
  state.descriptors = entries_of("/proc/self/fd");
  state.threads = entries_of("/proc/self/task");
  return state;
}

std::vector<Diagnosis> differences(const ProcessState& before, const ProcessState& after) {
  std::vector<Diagnosis> found;
  const auto compare = [&](const char* what, const std::string& was, const std::string& is) {
    if (was != is)
      found.push_back(
          std::move(diagnose("EH-R09").with("changed", what).with("before", was).with("after", is)));
  };
  std::string handlers;
  for (std::size_t number = 1; number < before.handlers.size(); ++number)
    if (before.handlers[number] != after.handlers[number])
      handlers += (handlers.empty() ? "" : ", ") + signal_name(static_cast<int>(number));
  if (!handlers.empty())
    found.push_back(std::move(diagnose("EH-R09")
                                  .with("changed", "the signal handlers of " + handlers)
                                  .with("before", "those of the program")
                                  .with("after", "those of the engine")));
  compare("the locale", before.locale, after.locale);
  compare("the current folder", before.folder, after.folder);
  compare("the umask", before.umask, after.umask);
  compare("the number of open descriptors", std::to_string(before.descriptors),
          std::to_string(after.descriptors));
  compare("the number of threads", std::to_string(before.threads), std::to_string(after.threads));
  return found;
}

}  // namespace enginehost::helper
