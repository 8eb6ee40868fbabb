// A loaded ONNX Runtime: its file, its function table, and its one environment in a process.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engines/onnxruntime/c_api.hpp"
#include "engines/onnxruntime/failure.hpp"

namespace enginehost::engines::onnxruntime {

// Shared by all engines of one process that use the same library file; [any].
class Runtime {
 public:
  // Loads the library below `host->root`, or uses the one already loaded from that file. `wanted` is the view
  // path of the library, or nullptr to search it. Reports details to `call` before it throws a Failure.
  static std::shared_ptr<Runtime> open(const engine_host* host, const char* wanted, engine_call* call);
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  void* const* table() const { return table_; }
  const std::string& path() const { return path_; }
  const char* version() const { return version_; }
  // The number of the newest function table: 27 for release 1.27.
  uint32_t api_version() const { return api_version_; }
  OrtEnv* environment() const { return environment_; }
  const OrtMemoryInfo* host_memory() const { return host_memory_; }
  OrtAllocator* allocator() const { return allocator_; }

  // Throws when `status` is an error; releases it. `otherwise` is the status for error codes without a
  // mapping.
  void check(OrtStatus* status, engine_status otherwise) const;
  // Same without throwing: nullptr when nothing failed.
  std::unique_ptr<Failure> failure(OrtStatus* status, engine_status otherwise) const;
  // Registers the library of an execution provider under the name `kind`, once in this environment, and
  // returns the devices that it offers. Throws a Failure with the loader's reason.
  const std::vector<const OrtEpDevice*>& register_provider(const std::string& kind,
                                                           const std::string& library, engine_call* call);
  // Returns the devices of all execution providers, those in the runtime's own library included.
  std::vector<const OrtEpDevice*> provider_devices() const;
  // Returns a copy of text that the runtime allocated, and frees the original.
  std::string take(char* text) const;

 private:
  Runtime() = default;

  void* handle_ = nullptr;
  void* const* table_ = nullptr;
  std::string path_;
  const char* version_ = "";
  uint32_t api_version_ = 0;
  OrtEnv* environment_ = nullptr;
  OrtMemoryInfo* host_memory_ = nullptr;
  OrtAllocator* allocator_ = nullptr;
  std::mutex providers_mutex_;
  std::map<std::string, std::vector<const OrtEpDevice*>> providers_;  // by their libraries
};

// The environment has one logger for the process, but there may be many hosts: each registered host gets
// every message.
class LogReceiver {
 public:
  explicit LogReceiver(const engine_host* host);
  ~LogReceiver();
  LogReceiver(const LogReceiver&) = delete;
  LogReceiver& operator=(const LogReceiver&) = delete;

 private:
  const engine_host* host_;
};

// Reports "missing_library" if a text such as "libcudnn.so.9: cannot open shared object file: ..." names a
// library.
void report_missing_library(const std::string& loader_text, engine_call* call);

// Returns the loader's text without the runtime's own file and line before it.
std::string loader_words(const std::string& message);

// Releases an object of the runtime when it goes out of scope.
template <class Object, class Release>
class Held {
 public:
  explicit Held(const Runtime& runtime) : runtime_(&runtime) {}
  Held(const Runtime& runtime, Object* object) : runtime_(&runtime), object_(object) {}
  Held(Held&& other) noexcept : runtime_(other.runtime_), object_(other.leave()) {}
  Held& operator=(Held&&) = delete;
  ~Held() {
    if (object_ != nullptr) Release{}(runtime_->table(), object_);
  }
  Object** out() { return &object_; }
  Object* get() const { return object_; }
  Object* leave() {
    Object* object = object_;
    object_ = nullptr;
    return object;
  }

 private:
  const Runtime* runtime_;
  Object* object_ = nullptr;
};
using HeldValue = Held<OrtValue, decltype(api::release_value)>;
using HeldSession = Held<OrtSession, decltype(api::release_session)>;
using HeldSessionOptions = Held<OrtSessionOptions, decltype(api::release_session_options)>;
using HeldRunOptions = Held<OrtRunOptions, decltype(api::release_run_options)>;
using HeldType = Held<OrtTypeInfo, decltype(api::release_type)>;
using HeldTensorInfo = Held<OrtTensorInfo, decltype(api::release_tensor_info)>;
using HeldCudaOptions = Held<OrtCudaOptions, decltype(api::release_cuda_options)>;
using HeldMetadata = Held<OrtModelMetadata, decltype(api::release_metadata)>;

}  // namespace enginehost::engines::onnxruntime
