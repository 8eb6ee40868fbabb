#include "engines/mxnet/runtime.hpp"

#ifndef _WIN32
#include <signal.h>

#include <array>
#endif
#include <map>
#include <mutex>

#include "engines/support/runtime_library.hpp"

namespace enginehost::engines::mxnet {
namespace {

#ifdef _WIN32
constexpr const char *file_name = "libmxnet.dll", *place = "mxnet/libmxnet.dll";
#else
constexpr const char *file_name = "libmxnet.so", *place = "mxnet/libmxnet.so";
#endif

std::string locate(const engine_host* host, const char* wanted, engine_call* call) {
  const std::string root = host->root;
  if (wanted != nullptr) return wanted_library(root, "mxnet.library", wanted, call);
  const std::string path = root + "/" + place;
  if (file_exists(path)) return path;
  call->detail(call, "missing_library", file_name);
  call->detail(call, "path", host->root);
  throw Failure{ENGINE_CORRUPT, std::string("There is no ") + place + " below " + root + "."};
}

// MXNet installs handlers for SIGSEGV and other signals while it is loaded. Signal handlers belong to the
// host, so they are restored.
#ifdef _WIN32
class SignalGuard {};  // on Windows such a handler belongs to MXNet's own C library
#else
class SignalGuard {
 public:
  SignalGuard() {
    for (size_t i = 1; i < before_.size(); i++) sigaction(static_cast<int>(i), nullptr, &before_[i]);
  }
  ~SignalGuard() {
    for (size_t i = 1; i < before_.size(); i++) {
      const int number = static_cast<int>(i);
      if (number != SIGKILL && number != SIGSTOP) sigaction(number, &before_[i], nullptr);
    }
  }
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

 private:
  std::array<struct sigaction, 32> before_{};  // without the real-time signals, which have no default use
};
#endif

void find_all(void* handle, Api& api, const std::string& path, engine_call* call) {
#define ENGINEHOST_FIND(name) find_function(handle, #name, api.name, path, "which MXNet has since 1.7", call)
  ENGINEHOST_FIND(MXGetLastError);
  ENGINEHOST_FIND(MXGetVersion);
  ENGINEHOST_FIND(MXSetNumOMPThreads);
  ENGINEHOST_FIND(MXLibInfoFeatures);
  ENGINEHOST_FIND(MXGetGPUCount);
  ENGINEHOST_FIND(MXSymbolCreateFromJSON);
  ENGINEHOST_FIND(MXSymbolFree);
  ENGINEHOST_FIND(MXSymbolListArguments);
  ENGINEHOST_FIND(MXSymbolListAuxiliaryStates);
  ENGINEHOST_FIND(MXSymbolListOutputs);
  ENGINEHOST_FIND(MXNDArrayLoadFromBuffer);
  ENGINEHOST_FIND(MXNDArrayFree);
  ENGINEHOST_FIND(MXPredCreateEx);
  ENGINEHOST_FIND(MXPredFree);
  ENGINEHOST_FIND(MXPredSetInput);
  ENGINEHOST_FIND(MXPredForward);
  ENGINEHOST_FIND(MXPredGetOutputShape);
  ENGINEHOST_FIND(MXPredGetOutputType);
  ENGINEHOST_FIND(MXPredGetOutput);
#undef ENGINEHOST_FIND
}

std::mutex open_mutex;
std::map<std::string, std::shared_ptr<Runtime>>& open_runtimes() {
  static auto* const kept = new std::map<std::string, std::shared_ptr<Runtime>>;
  return *kept;
}

}  // namespace

// A loaded library stays, because its thread pools cannot be stopped safely.
std::shared_ptr<Runtime> Runtime::open(const engine_host* host, const char* wanted, engine_call* call) {
  const std::string path = locate(host, wanted, call);
  const std::lock_guard lock(open_mutex);
  std::shared_ptr<Runtime>& known = open_runtimes()[real_path(path)];
  if (known != nullptr) return known;
  [[maybe_unused]] const SignalGuard kept;
  void* handle = open_runtime("MXNet", path, call);
  std::shared_ptr<Runtime> runtime(new Runtime);
  runtime->path_ = path;
  find_all(handle, runtime->api_, path, call);
  int& version = runtime->version_number_;
  runtime->check(runtime->api_.MXGetVersion(&version), ENGINE_UNSUPPORTED);
  runtime->version_ = std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
                      std::to_string(version % 100);
  known = runtime;
  return runtime;
}

bool Runtime::has_cuda_code() const {
  const Feature* features = nullptr;
  size_t count = 0;
  check(api_.MXLibInfoFeatures(&features, &count), ENGINE_UNSUPPORTED);
  for (size_t i = 0; i < count; i++) {
    if (std::string("CUDA") == features[i].name) return features[i].enabled;
  }
  return false;
}

std::string Runtime::last_error() const {
  // "...: Check failed: ...
  // Stack trace:
  // [bt] ..." The addresses are useless in a message and are cut.
  std::string message = api_.MXGetLastError();
  message = message.substr(0, message.find("\nStack trace"));
  while (!message.empty() && (message.back() == '\n' || message.back() == ' ')) message.pop_back();
  return message;
}

void Runtime::check(int result, engine_status otherwise) const {
  if (result == 0) return;
  const std::string message = last_error();
  const auto has = [&](const char* text) { return message.find(text) != std::string::npos; };
  // "CUDA: no kernel image is available for execution on the device"
  if (otherwise != ENGINE_INTERNAL && has("CUDA: ")) otherwise = ENGINE_UNAVAILABLE;
  // "cudaMalloc retry failed: out of memory"
  if (has("std::bad_alloc") || has("Failed to allocate CPU Memory") ||
      (has("cudaMalloc") && has("out of memory")))
    otherwise = ENGINE_NO_MEMORY;
  throw Failure{otherwise, message, result};
}

}  // namespace enginehost::engines::mxnet
