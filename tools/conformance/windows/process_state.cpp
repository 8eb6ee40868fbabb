#include "tools/conformance/process_state.hpp"

#include "tools/conformance/paths.hpp"
#include "tools/conformance/windows/system.hpp"
// Must follow <windows.h>, which it needs.
#include <tlhelp32.h>

#include <cfenv>
#include <clocale>
#include <cstdint>
#include <cstdlib>
#include <filesystem>

namespace engineplugin {

// Signal handlers belong to each C runtime here; the handler of exceptions belongs to the process.
ProcessState ProcessState::now() {
  ProcessState state;
  const LPTOP_LEVEL_EXCEPTION_FILTER filter = SetUnhandledExceptionFilter(nullptr);
  SetUnhandledExceptionFilter(filter);
  state.handlers.push_back(std::to_string(reinterpret_cast<std::uintptr_t>(filter)));
  state.locale = std::setlocale(LC_ALL, nullptr);
  std::error_code error;
  state.folder = path_text(std::filesystem::current_path(error));
  for (char** entry = _environ; entry && *entry; entry++) state.environment.emplace_back(*entry);
  state.rounding = std::fegetround();
  return state;
}

std::string ProcessState::difference(const ProcessState& later) const {
  if (handlers != later.handlers) return "the handler of unhandled exceptions was changed";
  if (locale != later.locale) return "the locale was changed to " + later.locale;
  if (folder != later.folder) return "the current folder was changed to " + later.folder;
  if (environment != later.environment) return "the environment was changed";
  if (rounding != later.rounding) return "the rounding mode was changed";
  return "";
}

int thread_count() {
  const HANDLE snapshot = CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0);
  THREADENTRY32 entry{};
  entry.dwSize = sizeof entry;
  int count = 0;
  for (BOOL more = Thread32First(snapshot, &entry); more; more = Thread32Next(snapshot, &entry))
    count += entry.th32OwnerProcessID == GetCurrentProcessId() ? 1 : 0;
  CloseHandle(snapshot);
  return count;
}

}  // namespace engineplugin
