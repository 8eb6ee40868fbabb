// An engine opened by the public SDK, and its single operations. The SDK has models and no operations, so
// these are called in the plugin: in the file that the SDK loaded and names in its report, through the one
// header that plugins are written against.
#pragma once
#include <enginehost/engine_plugin.h>

#include <enginehost/enginehost.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/gpu/operation_cases.hpp"

namespace enginehost::gpu {

// The result of one operation: a tensor, or a refusal.
struct Outcome {
  engine_status status = ENGINE_OK;
  std::string message;  // of a refusal
  std::string broken;   // a violated rule of the plugin interface, as text
  Shape shape;
  engine_dtype dtype{};
  std::vector<double> values;
  bool accepted() const { return status == ENGINE_OK; }
  // "INVALID: MatMul cannot multiply ...", or "[2,3] of float32"
  std::string text() const;
};

// A tensor in memory that a device reads; released by the destructor.
class DeviceTensor {
 public:
  explicit DeviceTensor(DLManagedTensorVersioned* given)
      : owned_(static_cast<engine_owned_tensor*>(static_cast<void*>(given))) {}
  DeviceTensor(DeviceTensor&& other) noexcept : owned_(std::exchange(other.owned_, nullptr)) {}
  DeviceTensor& operator=(DeviceTensor&&) = delete;
  ~DeviceTensor() {
    if (owned_ != nullptr) owned_->release(owned_);
  }
  const engine_tensor* get() const { return owned_ == nullptr ? nullptr : &owned_->tensor; }

 private:
  engine_owned_tensor* owned_;
};

class ComparedEngine {
 public:
  // Throws sdk::Error with the whole diagnosis, or std::runtime_error where the plugin offers no operations.
  explicit ComparedEngine(const sdk::Request& request);
  ~ComparedEngine();
  ComparedEngine(const ComparedEngine&) = delete;
  ComparedEngine& operator=(const ComparedEngine&) = delete;

  std::string build() const { return sdk_.build(); }
  // "cuda:0"; "" when it computes on the processor alone.
  const std::string& accelerator() const { return accelerator_; }
  // With `offer` the result may be put into the caller's memory; otherwise the engine allocates it.
  Outcome run(const std::string& operation, const std::vector<const engine_tensor*>& inputs,
              const Attributes& attributes, bool offer);
  // A copy on the accelerator. Throws sdk::Error.
  DeviceTensor on_accelerator(const engine_tensor& tensor) {
    return DeviceTensor(sdk_.copy(&tensor, accelerator_));
  }

 private:
  void read(const engine_tensor& result, Outcome& out);

  sdk::Engine sdk_;
  std::string accelerator_, root_;
  void* library_ = nullptr;
  const engine_plugin* plugin_ = nullptr;
  engine_host host_{};
  engine_instance* instance_ = nullptr;
  const engine_op_v1* operations_ = nullptr;
};

}  // namespace enginehost::gpu
