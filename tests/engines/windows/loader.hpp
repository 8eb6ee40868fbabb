// Opens plugins for these tests.
#pragma once
#include <string>

#include "base/windows/system.hpp"
// Macros of 16-bit Windows that its headers still define.
#undef far
#undef near

namespace enginehost::engines::tests {

inline std::string plugin_file(const std::string& engine) { return "engine_" + engine + ".dll"; }
inline void* open_library(std::string path) {
  for (char& c : path)
    if (c == '/') c = '\\';
  return ::LoadLibraryExA(path.c_str(), nullptr,
                          LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
}
inline std::string why_not_opened() { return "LoadLibraryEx: " + std::to_string(::GetLastError()); }
inline void* symbol_of(void* library, const char* name) {
  return reinterpret_cast<void*>(::GetProcAddress(static_cast<HMODULE>(library), name));
}
inline void close_library(void* library) { ::FreeLibrary(static_cast<HMODULE>(library)); }
inline bool is_loaded(const std::string& path) {
  return ::GetModuleHandleA(path.substr(path.find_last_of('/') + 1).c_str()) != nullptr;
}

}  // namespace enginehost::engines::tests
