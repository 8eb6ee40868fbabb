// Finds the library of an adapter's engine in the installed build, loads it and looks up its functions. Paths
// are UTF-8.
#pragma once
#include <string>

#include "engines/support/cuda_devices.hpp"
#include "engines/support/failure.hpp"
#ifdef _WIN32
#include "engines/support/windows/runtime_library.hpp"
#else
#include "engines/support/posix/runtime_library.hpp"
#endif

namespace enginehost::engines {

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

// Reports "missing_library" and "missing_symbol", as far as the loader's text names them.
inline void report_loader_text(const std::string& text, engine_call* call) {
  const std::string missing = missing_library_in(text);
  if (!missing.empty()) call->detail(call, "missing_library", missing.c_str());
  const std::string before_symbol = "undefined symbol: ";
  const size_t symbol = text.find(before_symbol);
  if (symbol != std::string::npos)
    call->detail(call, "missing_symbol", text.substr(symbol + before_symbol.size()).c_str());
}

// Loads the library of the engine `name`. Reports details to `call` before it throws a Failure.
inline void* open_runtime(const char* name, const std::string& path, engine_call* call) {
  std::string problem;
  void* handle = open_library(path, false, problem);
  if (handle != nullptr) return handle;
  report_loader_text(problem, call);
  call->detail(call, "path", path.c_str());
  throw Failure{ENGINE_UNAVAILABLE, std::string(name) + " cannot be loaded: " + problem};
}

// Finds a function of the library that was opened from `path`. Otherwise throws a Failure whose message ends
// with `who_has_it`: "which MXNet 1.9 has".
template <class Pointer>
void find_function(void* handle, const char* name, Pointer& out, const std::string& path,
                   const char* who_has_it, engine_call* call) {
  out = reinterpret_cast<Pointer>(find_symbol(handle, name));
  if (out != nullptr) return;
  call->detail(call, "missing_symbol", name);
  call->detail(call, "path", path.c_str());
  throw Failure{ENGINE_UNSUPPORTED, path + " does not export " + name + ", " + who_has_it + "."};
}

// Adds the CUDA devices of NVIDIA's driver, which is loaded for good.
inline void add_cuda_devices(Devices& devices) {
  std::string problem;
  void* driver = open_library(name_of_cuda_driver, true, problem);
  add_cuda_devices(devices, name_of_cuda_driver, driver, find_symbol, problem);
  devices.missing_library = missing_library_in(problem);
}

// Returns the driver's error (a CUresult) if it makes no context on the device now, else 0. For an engine
// that leaves out a device without a reason. Source of the functions: NVIDIA, "CUDA Driver API", Primary
// Context Management.
inline int error_of_context(int index) {
  std::string problem;
  void* library = open_library(name_of_cuda_driver, true, problem);
  const CudaDriver driver(library, find_symbol);
  int device = 0;
  if (!driver.usable || driver.get(&device, index) != 0) return 0;
  const auto retain =
      reinterpret_cast<int (*)(void**, int)>(find_symbol(library, "cuDevicePrimaryCtxRetain"));
  const auto release = reinterpret_cast<int (*)(int)>(find_symbol(library, "cuDevicePrimaryCtxRelease_v2"));
  if (retain == nullptr || release == nullptr) return 0;
  void* context = nullptr;
  const int code = retain(&context, device);
  if (code == 0) release(device);
  return code;
}

}  // namespace enginehost::engines
