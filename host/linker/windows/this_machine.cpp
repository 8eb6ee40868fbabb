#include <algorithm>

#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "base/windows/system.hpp"
#include "base/windows/wide.hpp"
#include "host/linker/dyld.hpp"
#include "host/linker/machine.hpp"
#include "host/linker/windows.hpp"
// After <windows.h>, which it needs.
#include <psapi.h>

namespace enginehost::linker {
namespace {

// Runs a call that fills a buffer and returns the length, or the size it needs.
template <class Call>
std::string folder_from(Call call) {
  std::wstring text(MAX_PATH, L'\0');
  for (;;) {
    const DWORD length = call(text.data(), static_cast<DWORD>(text.size()));
    if (length < text.size()) return windows::utf8(std::wstring_view(text).substr(0, length));
    text.resize(length + 1);
  }
}

std::vector<std::string> known_dlls() {
  std::vector<std::string> names;
  HKEY key = nullptr;
  if (::RegOpenKeyExW(HKEY_LOCAL_MACHINE, L"SYSTEM\\CurrentControlSet\\Control\\Session Manager\\KnownDLLs",
                      0, KEY_READ, &key) != ERROR_SUCCESS)
    return names;
  for (DWORD i = 0;; ++i) {
    wchar_t name[256], value[512];
    DWORD name_size = 256, value_size = sizeof value, type = 0;
    if (::RegEnumValueW(key, i, name, &name_size, nullptr, &type, reinterpret_cast<BYTE*>(value),
                        &value_size) != ERROR_SUCCESS)
      break;
    if (type != REG_SZ || value_size < sizeof(wchar_t)) continue;
    const std::string text = to_lower(windows::utf8({value, value_size / sizeof(wchar_t) - 1}));
    if (text.ends_with(".dll")) names.push_back(text);
  }
  ::RegCloseKey(key);
  return names;
}

// Returns true unless the registry turns safe search off.
bool safe_search() {
  DWORD value = 1, size = sizeof value;
  return ::RegGetValueW(HKEY_LOCAL_MACHINE, L"SYSTEM\\CurrentControlSet\\Control\\Session Manager",
                        L"SafeDllSearchMode", RRF_RT_REG_DWORD, nullptr, &value, &size) != ERROR_SUCCESS ||
         value != 0;
}

constexpr const char* architecture_of_this_program() {
#if defined(__aarch64__) || defined(_M_ARM64)
  return "aarch64";
#elif defined(__x86_64__) || defined(_M_X64)
  return "x86_64";
#else
  return "i386";
#endif
}

}  // namespace

std::filesystem::path file_of_module(void* module) {
  std::wstring path(MAX_PATH, L'\0');
  for (;;) {
    const DWORD length =
        ::GetModuleFileNameW(static_cast<HMODULE>(module), path.data(), static_cast<DWORD>(path.size()));
    if (length < path.size()) {
      path.resize(length);
      break;
    }
    path.resize(path.size() * 2);
  }
  if (path.starts_with(L"\\\\?\\UNC\\")) return L"\\\\" + path.substr(8);
  if (path.starts_with(L"\\\\?\\")) path.erase(0, 4);
  return path;
}

std::vector<LoadedLibrary> loaded_modules() {
  std::vector<LoadedLibrary> found;
  std::vector<HMODULE> modules(256);
  for (;;) {
    const auto room = static_cast<DWORD>(modules.size() * sizeof(HMODULE));
    DWORD needed = 0;
    if (::K32EnumProcessModules(::GetCurrentProcess(), modules.data(), room, &needed) == 0) return found;
    const bool all = needed <= room;
    modules.resize(needed / sizeof(HMODULE));
    if (all) break;
  }
  for (const HMODULE module : modules) {
    const std::filesystem::path file = file_of_module(module);
    found.push_back({path_text(file.filename()), file});
  }
  return found;
}

WindowsMachine describe_this_windows(std::vector<std::string> added_directories) {
  WindowsMachine machine;
  machine.architecture = architecture_of_this_program();
  const DWORD drives = ::GetLogicalDrives();
  for (char letter = 'A'; letter <= 'Z'; ++letter)
    if ((drives >> (letter - 'A') & 1) != 0) machine.drives.emplace(letter, std::string(1, letter) + ":\\");
  machine.application_directory = path_text(executable_folder());
  machine.system_directory =
      folder_from([](wchar_t* text, DWORD size) { return ::GetSystemDirectoryW(text, size); });
  machine.windows_directory =
      folder_from([](wchar_t* text, DWORD size) { return ::GetWindowsDirectoryW(text, size); });
  machine.system16_directory = machine.windows_directory + "\\system";
  machine.current_directory =
      folder_from([](wchar_t* text, DWORD size) { return ::GetCurrentDirectoryW(size, text); });
  machine.dll_directory =
      folder_from([](wchar_t* text, DWORD size) { return ::GetDllDirectoryW(size, text); });
  machine.added_directories = std::move(added_directories);
  for (std::string& folder : split(environment_variable("PATH").value_or(""), ';'))
    if (!folder.empty()) machine.path.push_back(std::move(folder));
  machine.safe_search = safe_search();
  machine.known_dlls = known_dlls();
  machine.loaded = loaded_modules();
  return machine;
}

const std::optional<std::string>& library_path_at_start() {
  static const auto& none = *new std::optional<std::string>;
  return none;
}

// Windows loads no ELF files; these values suit any system. describe_this_windows() describes the machine for
// its own loader.
Machine describe_this_machine() {
  Machine machine;
  machine.architecture = architecture_of_this_program();
  machine.bits = sizeof(void*) * 8;
  SYSTEM_INFO system{};
  ::GetSystemInfo(&system);
  machine.page_size = system.dwPageSize;
  machine.current_directory = std::filesystem::path();
  machine.cache_file.clear();
  machine.library_path_source = "PATH";
  return machine;
}

std::vector<LoadedLibrary> loaded_libraries() {
  std::vector<LoadedLibrary> modules = loaded_modules();
  if (!modules.empty()) modules.erase(modules.begin());
  return modules;
}

std::vector<LoadedLibrary> preloaded_libraries() { return {}; }

// File systems of Windows have no such attribute.
std::optional<std::string> quarantine_text(const std::filesystem::path&) { return std::nullopt; }

}  // namespace enginehost::linker
