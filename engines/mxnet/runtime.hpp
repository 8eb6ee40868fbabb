// A loaded MXNet: its file and its functions.
#pragma once
#include <memory>
#include <string>

#include "engines/mxnet/c_api.hpp"
#include "engines/mxnet/failure.hpp"

namespace enginehost::engines::mxnet {

// Shared by all engines of one process that use the same library file; [any].
class Runtime {
 public:
  // Loads the library below `host->root`, or uses the one already loaded from that file. `wanted` is the view
  // path of the library, or nullptr for mxnet/libmxnet.so. Reports details to `call` before it throws a
  // Failure.
  static std::shared_ptr<Runtime> open(const engine_host* host, const char* wanted, engine_call* call);
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  const Api* operator->() const { return &api_; }
  const std::string& path() const { return path_; }
  const std::string& version() const { return version_; }
  int version_number() const { return version_number_; }  // 10901 is 1.9.1

  // True if the library was built with code for CUDA, whether or not this machine has a device.
  bool has_cuda_code() const;
  // Returns this thread's last message of MXNet.
  std::string last_error() const;
  // Throws MXNet's message when `result` is not 0.
  void check(int result, engine_status otherwise) const;

 private:
  Runtime() = default;

  Api api_{};
  std::string path_, version_;
  int version_number_ = 0;
};

}  // namespace enginehost::engines::mxnet
