#include "base/process.hpp"

#include "base/windows/system.hpp"
// After <windows.h>, which it needs.
#include <bcrypt.h>

#include <algorithm>
#include <cwchar>
#include <string>

#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/limits.hpp"
#include "base/paths.hpp"
#include "base/per_process.hpp"
#include "base/windows/wide.hpp"

namespace enginehost {
namespace {

std::filesystem::path file_of_module(HMODULE module) {
  std::wstring path(MAX_PATH, L'\0');
  for (;;) {
    const DWORD length = ::GetModuleFileNameW(module, path.data(), static_cast<DWORD>(path.size()));
    if (length < path.size()) {
      path.resize(length);
      return path;
    }
    path.resize(path.size() * 2);
  }
}

// A function of ntdll by name, because no import library has it.
template <class Function>
Function function_of_ntdll(const char* name) {
  const FARPROC found = ::GetProcAddress(::GetModuleHandleW(L"ntdll.dll"), name);
  return reinterpret_cast<Function>(reinterpret_cast<void*>(found));
}

}  // namespace

bool fill_with_random_bytes(unsigned char* into, std::size_t size) {
  while (size > 0) {
    const auto part = static_cast<ULONG>(std::min<std::size_t>(size, 1u << 20));
    if (::BCryptGenRandom(nullptr, into, part, BCRYPT_USE_SYSTEM_PREFERRED_RNG) < 0) return false;
    into += part;
    size -= part;
  }
  return true;
}

// Returns the boot time (first member of SystemTimeOfDayInformation), which setting the clock does not
// change.
std::string boot_id() {
  constexpr int time_of_day = 3;
  struct {
    LARGE_INTEGER boot, now, zone;
    ULONG zone_id, reserved;
    ULONGLONG boot_bias, sleep_bias;
  } reported{};
  using Query = LONG(WINAPI*)(int, void*, ULONG, ULONG*);
  const auto query = function_of_ntdll<Query>("NtQuerySystemInformation");
  if (query == nullptr || query(time_of_day, &reported, sizeof reported, nullptr) < 0) return {};
  return std::to_string(reported.boot.QuadPart - static_cast<LONGLONG>(reported.boot_bias));
}

std::int64_t boot_moment_ns() { return 0; }

std::string start_time_of_process(std::int64_t process) {
  const windows::Handle opened(
      ::OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, static_cast<DWORD>(process)));
  FILETIME began{}, ended{}, kernel{}, user{};
  DWORD code = 0;
  if (!opened.valid() || ::GetExitCodeProcess(opened.get(), &code) == 0 || code != STILL_ACTIVE ||
      ::GetProcessTimes(opened.get(), &began, &ended, &kernel, &user) == 0)
    return {};
  return std::to_string(static_cast<std::uint64_t>(began.dwHighDateTime) << 32 | began.dwLowDateTime);
}

bool has_more_rights_than_its_caller() { return false; }

const char* home_variable() { return "USERPROFILE"; }

std::string effective_user() {
  wchar_t name[257];
  DWORD size = 257;
  return ::GetUserNameW(name, &size) != 0 && size > 1 ? windows::utf8({name, size - 1}) : std::string();
}

std::string executable_path() { return path_text(file_of_module(nullptr)); }

std::filesystem::path executable_folder() { return file_of_module(nullptr).parent_path(); }

std::string library_name() {
  HMODULE module = nullptr;
  ::GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                       reinterpret_cast<LPCWSTR>(&library_folder), &module);
  return path_text(file_of_module(module));
}

std::optional<std::string> environment_variable(const char* name) {
  const std::wstring wanted = windows::wide(name);
  std::wstring text(256, L'\0');
  for (;;) {
    ::SetLastError(ERROR_SUCCESS);
    const DWORD length =
        ::GetEnvironmentVariableW(wanted.c_str(), text.data(), static_cast<DWORD>(text.size()));
    if (length == 0 && ::GetLastError() == ERROR_ENVVAR_NOT_FOUND) return std::nullopt;
    if (length < text.size()) {
      text.resize(length);
      return windows::utf8(text);
    }
    text.resize(length);
  }
}

std::vector<std::pair<std::string, std::string>> environment_variables() {
  std::vector<std::pair<std::string, std::string>> variables;
  wchar_t* const block = ::GetEnvironmentStringsW();
  if (block == nullptr) return variables;
  for (const wchar_t* entry = block; *entry != 0; entry += std::wcslen(entry) + 1) {
    const std::wstring_view text = entry;
    // "=C:=C:\folder" are cmd.exe's current folders of the drives.
    const std::size_t equals = text.find(L'=', 1);
    if (text.front() != L'=' && equals != std::wstring_view::npos)
      variables.emplace_back(windows::utf8(text.substr(0, equals)), windows::utf8(text.substr(equals + 1)));
  }
  ::FreeEnvironmentStringsW(block);
  return variables;
}

std::uint64_t environment_digest() {
  std::uint64_t sum = 0x9E3779B97F4A7C15u;
  wchar_t* const block = ::GetEnvironmentStringsW();
  if (block == nullptr) return sum;
  for (const wchar_t* entry = block; *entry != 0; entry += std::wcslen(entry) + 1)
    for (const wchar_t* at = entry;; ++at) {
      sum = (sum ^ static_cast<std::uint64_t>(*at)) * 0xBF58476D1CE4E5B9u;
      sum ^= sum >> 29;
      if (*at == 0) break;
    }
  ::FreeEnvironmentStringsW(block);
  return sum;
}

// A job object may limit memory and processes; its refusals say so themselves.
void add_limits(Diagnosis&, Scarce) {}

// Windows has no fork.
void hold_over_forks(std::mutex&) {}

unsigned generation_of_process() { return 0; }

std::filesystem::path library_folder() { return path_of(library_name()).parent_path(); }

}  // namespace enginehost
