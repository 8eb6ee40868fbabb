#include "host/load/helper/shared_library.hpp"

#include "base/environment.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "base/windows/system.hpp"
#include "base/windows/wide.hpp"

namespace enginehost::helper {

// The driver's package installs both into System32.
const char* const cuda_driver_library = "nvcuda.dll";
const char* const nvml_library = "nvml.dll";

namespace {

HMODULE load(const std::string& name_or_path) {
  // A bare name means a library of the system: neither PATH nor the program's folder is searched.
  const bool is_path = name_or_path.find_first_of("\\/") != std::string::npos;
  const DWORD flags = is_path ? LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS
                              : LOAD_LIBRARY_SEARCH_SYSTEM32;
  return ::LoadLibraryExW(windows::wide(name_or_path).c_str(), nullptr, flags);
}

}  // namespace

SharedLibrary::SharedLibrary(const std::string& name_or_path) {
  HMODULE module = load(name_or_path);
  const DWORD error = module == nullptr ? ::GetLastError() : 0;
  // Location in drivers before the DCH packages (NVIDIA, NVML API Reference Guide: "on Windows").
  if (const auto programs = environment_variable("ProgramFiles");
      module == nullptr && name_or_path == nvml_library && programs)
    module = load(*programs + "\\NVIDIA Corporation\\NVSMI\\nvml.dll");
  handle_ = reinterpret_cast<void*>(module);
  if (module == nullptr)
    error_ = name_or_path + ": " + windows::error_text(error) + " (error " + std::to_string(error) + ")";
}

std::string SharedLibrary::path() const {
  if (handle_ == nullptr) return {};
  std::wstring path(MAX_PATH, L'\0');
  for (;;) {
    const DWORD length = ::GetModuleFileNameW(reinterpret_cast<HMODULE>(handle_), path.data(),
                                              static_cast<DWORD>(path.size()));
    if (length < path.size()) return windows::utf8(std::wstring_view(path).substr(0, length));
    path.resize(path.size() * 2);
  }
}

void* SharedLibrary::symbol(const char* name) const {
  if (handle_ == nullptr) return nullptr;
  return reinterpret_cast<void*>(::GetProcAddress(reinterpret_cast<HMODULE>(handle_), name));
}

}  // namespace enginehost::helper
