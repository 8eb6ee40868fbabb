// See engines/support/runtime_library.hpp.
#pragma once
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "engines/support/windows/system.hpp"

namespace enginehost::engines {

inline constexpr const char* name_of_cuda_driver = "nvcuda.dll";

// Convert paths of this system to and from UTF-8.
inline std::filesystem::path path_of(const std::string& utf8) {
  return std::filesystem::path(std::u8string(utf8.begin(), utf8.end()));
}
inline std::string text_of(const std::filesystem::path& path) {
  const std::u8string text = path.u8string();
  return std::string(text.begin(), text.end());
}

// Resolves symbolic links; returns the path itself when that fails.
inline std::string real_path(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path_of(path), error);
  return error ? path : text_of(real);
}

inline bool file_exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path_of(path), error);
}

// True if a path inside the installed build would lead out of it.
inline bool leaves_the_view(const std::string& path) {
  // A drive or a file's stream cannot be inside the build.
  if (path.empty() || path.find(':') != std::string::npos) return true;
  const std::filesystem::path asked = path_of(path);
  if (asked.has_root_path()) return true;
  for (const std::filesystem::path& element : asked)
    if (element == "..") return true;
  return false;
}

inline constexpr const char* not_found = ": there is no such DLL";

// English texts for the errors of LoadLibraryEx (Windows' "System Error Codes"), because the system's own
// texts are in its language.
inline std::string words_of(DWORD error) {
  const std::string number = " (error " + std::to_string(error) + ")";
  switch (error) {
    case ERROR_MOD_NOT_FOUND:
      return "a DLL that it needs is missing" + number;
    case ERROR_PROC_NOT_FOUND:
      return "a DLL that it needs lacks a function" + number;
    case ERROR_BAD_EXE_FORMAT:
      return "it is no DLL for this processor" + number;
    case ERROR_NOACCESS:
    case ERROR_DLL_INIT_FAILED:
      return "its start code failed" + number;
    default:
      return "LoadLibraryEx fails" + number;
  }
}

// Loads a library, with its dependencies from its own folder; with `for_good` it is never unloaded. On
// failure returns nullptr and the reason in `problem`.
inline void* open_library(const std::string& path, bool for_good, std::string& problem) {
  const std::filesystem::path file = path_of(path).make_preferred();
  // A bare name is NVIDIA's driver, which lies in the system's folder. The flag for the library's own folder
  // is only valid with whole paths.
  const DWORD flags = file.has_root_path()
                          ? LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS
                          : LOAD_LIBRARY_SEARCH_SYSTEM32;
  const HMODULE library = ::LoadLibraryExW(file.c_str(), nullptr, flags);
  if (library == nullptr) {
    const DWORD error = ::GetLastError();
    const bool is_there = file.has_root_path() && file_exists(path);
    problem = error == ERROR_MOD_NOT_FOUND && !is_there ? path + not_found : path + ": " + words_of(error);
    return nullptr;
  }
  if (for_good) {
    HMODULE kept = nullptr;
    ::GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN,
                         reinterpret_cast<LPCWSTR>(library), &kept);
  }
  return library;
}

inline void* find_symbol(void* library, const char* name) {
  return reinterpret_cast<void*>(::GetProcAddress(static_cast<HMODULE>(library), name));
}

// Windows reports that something was not found but never names it.
inline std::string missing_library_in(const std::string& loader_text) {
  const size_t end = loader_text.find(not_found);
  if (end == std::string::npos) return "";
  const size_t blank = loader_text.rfind(' ', end);
  const size_t begin = blank == std::string::npos ? 0 : blank + 1;
  return loader_text.substr(begin, end - begin);
}

// Returns the names in a folder; nothing if it cannot be read.
inline std::vector<std::string> names_in_folder(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(path_of(folder.empty() ? "." : folder), error), end;
       !error && entry != end; entry.increment(error))
    names.push_back(text_of(entry->path().filename()));
  return names;
}

}  // namespace enginehost::engines
