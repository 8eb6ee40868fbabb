#include "engines/onnxruntime/system.hpp"

#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>

#include <cerrno>

#include "engines/onnxruntime/windows/paths.hpp"

namespace enginehost::engines::onnxruntime {

const char* const runtime_name = "onnxruntime.dll";
const char* const provider_name = "onnxruntime_providers_cuda.dll";
const char* const driver_name = "nvcuda.dll";

namespace {

constexpr const char* not_found = ": there is no such DLL";

// English texts for the errors of LoadLibraryEx (Windows' "System Error Codes"), because the system's own
// texts are in its language.
std::string words_of(DWORD error) {
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

}  // namespace

PathText path_for_runtime(const std::string& utf8) { return path_of(utf8).make_preferred().native(); }

std::string real_path(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path_of(path), error);
  return error ? path : text_of(real);
}

bool leaves_the_view(const std::string& path) {
  // A drive or a file's stream cannot be inside the build.
  if (path.empty() || path.find(':') != std::string::npos) return true;
  const std::filesystem::path asked = path_of(path);
  if (asked.has_root_path()) return true;
  for (const std::filesystem::path& element : asked)
    if (element == "..") return true;
  return false;
}

std::string beside(const std::string& file, const char* name) {
  return text_of(path_of(file).replace_filename(name));
}

bool exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path_of(path), error);
}

int why_unreadable(const char* path) {
  constexpr int for_reading = 4;  // _waccess has no names for its modes
  return _waccess(path_of(path).c_str(), for_reading) == 0 ? 0 : errno;
}

std::filesystem::path make_private_folder() {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  if (error) return {};
  const DWORD process = ::GetCurrentProcessId();
  for (int number = 0; number < 100; number++) {
    const std::filesystem::path own = folder / ("enginehost-" + std::to_string(process) + "-" +
                                                std::to_string(::GetTickCount64()) + std::to_string(number));
    // false without an error: it existed already.
    if (std::filesystem::create_directory(own, error)) return own;
    if (error) return {};
  }
  return {};
}

void* open_library(const std::string& path, bool for_good, std::string& problem) {
  const std::filesystem::path file = path_of(path).make_preferred();
  // A bare name is NVIDIA's driver, which lies in the system's folder. The flag for the library's own folder
  // is only valid with whole paths.
  const DWORD flags = file.has_root_path()
                          ? LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS
                          : LOAD_LIBRARY_SEARCH_SYSTEM32;
  const HMODULE library = ::LoadLibraryExW(file.c_str(), nullptr, flags);
  if (library == nullptr) {
    const DWORD error = ::GetLastError();
    const bool is_there = file.has_root_path() && exists(path);
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

void* find_symbol(void* library, const char* name) {
  return reinterpret_cast<void*>(::GetProcAddress(static_cast<HMODULE>(library), name));
}

// GetProcAddress searches only this file; a function that it forwards to another file counts as its own.
void* find_own_symbol(void* library, const std::string&, const char* name) {
  return find_symbol(library, name);
}

// Windows reports that something was not found but never names it.
std::string missing_library_in(const std::string& loader_text) {
  const size_t end = loader_text.find(not_found);
  if (end == std::string::npos) return "";
  const size_t blank = loader_text.rfind(' ', end);
  const size_t begin = blank == std::string::npos ? 0 : blank + 1;
  return loader_text.substr(begin, end - begin);
}

}  // namespace enginehost::engines::onnxruntime
