// Opens plugins for these tests.
#pragma once
#include <dlfcn.h>

#include <string>

namespace enginehost::engines::tests {

inline std::string plugin_file(const std::string& engine) { return "libengine_" + engine + ".so"; }
inline void* open_library(const std::string& path) { return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL); }
inline std::string why_not_opened() { return dlerror(); }
inline void* symbol_of(void* library, const char* name) { return dlsym(library, name); }
inline void close_library(void* library) { dlclose(library); }
inline bool is_loaded(const std::string& path) {
  return dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD) != nullptr;
}

}  // namespace enginehost::engines::tests
