#include "tools/conformance/system.hpp"

#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <malloc.h>
#include <windows.h>
// Must follow <windows.h>, which it needs.
#include <tlhelp32.h>

#include <cfenv>
#include <clocale>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>

namespace engineplugin {
const char* const how_opened = "LoadLibraryEx, its own folder and the system's";

void* open_library(const std::string& file) {
  return LoadLibraryExW(path_of(file).make_preferred().c_str(), nullptr,
                        LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
}

std::string last_error() { return "LoadLibraryEx failed with error " + std::to_string(GetLastError()); }

void close_library(void* library) { FreeLibrary(static_cast<HMODULE>(library)); }

bool is_loaded(const std::string& file) {
  return GetModuleHandleW(path_of(file).make_preferred().c_str()) != nullptr;
}

void* find_symbol(void* library, const char* name) {
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name));
}

std::filesystem::path file_of(const void* address) {
  HMODULE module = nullptr;
  wchar_t path[4096];
  if (!GetModuleHandleExW(
          GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
          static_cast<LPCWSTR>(address), &module) ||
      GetModuleFileNameW(module, path, 4096) == 0)
    return {};
  return path;
}

void* allocate_aligned(std::size_t bytes) { return _aligned_malloc((bytes + 63) / 64 * 64, 64); }
void release_aligned(void* block) { _aligned_free(block); }

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

namespace {

// The child finds the memory shared with its parent by the handle in this variable.
constexpr const wchar_t* variable = L"ENGINE_PLUGIN_CHECK_PROGRESS";

SharedProgress* map(HANDLE memory) {
  return static_cast<SharedProgress*>(
      MapViewOfFile(memory, FILE_MAP_READ | FILE_MAP_WRITE, 0, 0, sizeof(SharedProgress)));
}

// A file that is deleted with the last of its handles, which the child inherits.
HANDLE make_aside(SECURITY_ATTRIBUTES& inherited) {
  wchar_t folder[MAX_PATH], name[MAX_PATH];
  if (GetTempPathW(MAX_PATH, folder) == 0 || GetTempFileNameW(folder, L"out", 0, name) == 0)
    return INVALID_HANDLE_VALUE;
  return CreateFileW(name, GENERIC_READ | GENERIC_WRITE, FILE_SHARE_DELETE, &inherited, CREATE_ALWAYS,
                     FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE, nullptr);
}

[[noreturn]] void run_checks(const Checks& checks, SharedProgress& progress) {
  SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
  checks(progress);
  std::exit(0);
}

std::string number_text(DWORD code) {
  if (code < 0x80000000u) return std::to_string(code);
  char text[16];
  std::snprintf(text, sizeof text, "0x%08lX", code);
  return text;
}

std::string wait_for(HANDLE child, SharedProgress& progress, int seconds) {
  int seen = -1, ticks = 0;
  constexpr int ticks_per_second = 50;
  while (WaitForSingleObject(child, 1000 / ticks_per_second) != WAIT_OBJECT_0) {
    pass_lines_on(progress);
    if (progress.begun != seen) {
      seen = progress.begun;
      ticks = 0;
    } else if (++ticks > seconds * ticks_per_second) {
      TerminateProcess(child, 1);
      WaitForSingleObject(child, 5000);
      pass_lines_on(progress);
      return "no answer within " + std::to_string(seconds) + " s";
    }
  }
  pass_lines_on(progress);
  DWORD code = 0;
  GetExitCodeProcess(child, &code);
  if (progress.finished && code == 0) return "";
  if (code >= 0x80000000u)
    return "the process was ended by exception " + number_text(code) + " in this check";
  return "the process ended itself with status " + number_text(code) + " in this check";
}

}  // namespace

Supervised supervise(int, char**, const Checks& checks, int seconds, std::string& error) {
  wchar_t text[32];
  if (GetEnvironmentVariableW(variable, text, 32) != 0) {
    SharedProgress* progress = map(reinterpret_cast<HANDLE>(std::wcstoull(text, nullptr, 10)));
    if (progress == nullptr) std::_Exit(3);
    // Programs that the plugin starts must not take themselves for this child.
    SetEnvironmentVariableW(variable, nullptr);
    run_checks(checks, *progress);
  }
  SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
  const HANDLE memory = CreateFileMappingW(INVALID_HANDLE_VALUE, &inherited, PAGE_READWRITE, 0,
                                           sizeof(SharedProgress), nullptr);
  SharedProgress* shared = memory ? map(memory) : nullptr;
  if (!shared) {
    error = "no shared memory";
    return {};
  }
  const HANDLE aside = make_aside(inherited);
  if (aside == INVALID_HANDLE_VALUE) {
    error = "no file for standard output";
    return {};
  }
  auto& progress = *new (static_cast<void*>(shared)) SharedProgress{};
  SetEnvironmentVariableW(variable, std::to_wstring(reinterpret_cast<std::uintptr_t>(memory)).c_str());
  wchar_t program[4096];
  GetModuleFileNameW(nullptr, program, 4096);
  std::wstring line = GetCommandLineW();
  STARTUPINFOW start{};
  start.cb = sizeof start;
  start.dwFlags = STARTF_USESTDHANDLES;
  start.hStdInput = GetStdHandle(STD_INPUT_HANDLE);
  start.hStdOutput = aside;
  start.hStdError = GetStdHandle(STD_ERROR_HANDLE);
  PROCESS_INFORMATION made{};
  if (!CreateProcessW(program, line.data(), nullptr, nullptr, TRUE, 0, nullptr, nullptr, &start, &made)) {
    error = "no child process";
    return {};
  }
  std::string end = wait_for(made.hProcess, progress, seconds);
  LARGE_INTEGER bytes{};
  GetFileSizeEx(aside, &bytes);
  CloseHandle(aside);
  return {std::move(end), progress.check, progress.failures, static_cast<long>(bytes.QuadPart)};
}

void end_copy() {}  // Windows cannot fork a process

}  // namespace engineplugin
