// See engines/support/runtime_library.hpp.
#pragma once
#include <dirent.h>
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace enginehost::engines {

inline constexpr const char* name_of_cuda_driver = "libcuda.so.1";

// Resolves symbolic links; returns the path itself when that fails.
inline std::string real_path(const std::string& path) {
  char* resolved = realpath(path.c_str(), nullptr);
  std::string out = resolved == nullptr ? path : resolved;
  std::free(resolved);
  return out;
}

inline bool file_exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

// True if a path inside the installed build would lead out of it.
inline bool leaves_the_view(const std::string& path) {
  return path.empty() || path.front() == '/' || ("/" + path + "/").find("/../") != std::string::npos;
}

// Returns the missing library that the loader's text names ("libpython3.10.so.1.0" of
// "libpython3.10.so.1.0: cannot open shared object file: ..."); empty when it names none. A runtime may put
// its own text before the loader's.
inline std::string missing_library_in(const std::string& loader_text) {
  const size_t end = loader_text.find(": cannot open shared object file");
  if (end == std::string::npos) return "";
  const size_t blank = loader_text.rfind(' ', end);
  const size_t begin = blank == std::string::npos ? 0 : blank + 1;
  return loader_text.substr(begin, end - begin);
}

// Loads a library; with `for_good` it is never unloaded. On failure returns nullptr and the loader's text in
// `problem`.
inline void* open_library(const std::string& path, bool for_good, std::string& problem) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | (for_good ? RTLD_NODELETE : 0));
  if (library != nullptr) return library;
  const char* text = dlerror();
  problem = text == nullptr ? "the loader gave no reason" : text;
  return nullptr;
}
inline void* find_symbol(void* library, const char* name) { return dlsym(library, name); }

// Returns the names in a folder; nothing if it cannot be read.
inline std::vector<std::string> names_in_folder(const std::string& folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder.empty() ? "." : folder.c_str()), closedir);
  if (open == nullptr) return names;
  while (const dirent* entry = readdir(open.get())) names.emplace_back(entry->d_name);
  return names;
}

}  // namespace enginehost::engines
