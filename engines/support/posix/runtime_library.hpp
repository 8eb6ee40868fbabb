// Finds the library of an adapter's engine in the installed build and looks up its functions.
#pragma once
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "engines/support/cuda_devices.hpp"
#include "engines/support/failure.hpp"

namespace enginehost::engines {

// Resolves symbolic links; returns the path itself when that fails.
inline std::string real_path(const std::string& path) {
  char* resolved = realpath(path.c_str(), nullptr);
  std::string out = resolved == nullptr ? path : resolved;
  std::free(resolved);
  return out;
}

// True if a path inside the installed build would lead out of it.
inline bool leaves_the_view(const std::string& path) {
  return path.empty() || path.front() == '/' || ("/" + path + "/").find("/../") != std::string::npos;
}

// Returns the file below `root` that the option `key` names; throws a Failure if the path would lead out of
// `root`.
inline std::string wanted_library(const std::string& root, const char* key, const char* wanted,
                                  engine_call* call) {
  if (!leaves_the_view(wanted)) return root + "/" + wanted;
  call->detail(call, "option", key);
  throw Failure{ENGINE_INVALID, std::string("The option ") + key +
                                    " names a path inside the installed build, and \"" + wanted +
                                    "\" is none."};
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

// Returns the loader's last error. Reports "missing_library" and "missing_symbol", as far as the text names
// them.
inline std::string loader_says(engine_call* call) {
  const char* text = dlerror();
  std::string why = text == nullptr ? "the loader gave no reason" : text;
  const std::string missing = missing_library_in(why);
  if (!missing.empty()) call->detail(call, "missing_library", missing.c_str());
  constexpr const char* before_symbol = "undefined symbol: ";
  const size_t symbol = why.find(before_symbol);
  if (symbol != std::string::npos)
    call->detail(call, "missing_symbol", why.substr(symbol + std::strlen(before_symbol)).c_str());
  return why;
}

// Finds a function of the library that was opened from `path`. Otherwise
// throws a Failure whose message ends with `who_has_it`: "which MXNet 1.9
// has".
template <class Pointer>
void find_function(void* handle, const char* name, Pointer& out, const std::string& path,
                   const char* who_has_it, engine_call* call) {
  out = reinterpret_cast<Pointer>(dlsym(handle, name));
  if (out != nullptr) return;
  call->detail(call, "missing_symbol", name);
  call->detail(call, "path", path.c_str());
  throw Failure{ENGINE_UNSUPPORTED, path + " does not export " + name + ", " + who_has_it + "."};
}

// Adds the CUDA devices of NVIDIA's driver, which is loaded for good.
inline void add_cuda_devices(Devices& devices) {
  constexpr const char* name = "libcuda.so.1";
  void* driver = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  const char* text = driver == nullptr ? dlerror() : nullptr;
  const std::string problem = text == nullptr ? "" : text;
  add_cuda_devices(devices, name, driver, dlsym, problem);
  devices.missing_library = missing_library_in(problem);
}

}  // namespace enginehost::engines
