// Converts between tensors of the plugin ABI and of TensorFlow.
#pragma once
#include <memory>

#include "engines/support/tensor.hpp"
#include "engines/tensorflow/runtime.hpp"

namespace enginehost::engines::tensorflow {

// Returns a TF_DataType; 0 for a type that TensorFlow does not have.
int to_tensorflow_type(engine_dtype type);
// Returns bits 0 for a type that the ABI has no name for.
engine_dtype from_tensorflow_type(int type);

// A TF_Tensor that is deleted when it goes out of scope.
class HeldTensor {
 public:
  HeldTensor(std::shared_ptr<Runtime> runtime, TF_Tensor* tensor)
      : runtime_(std::move(runtime)), tensor_(tensor) {}
  HeldTensor(HeldTensor&& other) noexcept : runtime_(other.runtime_), tensor_(other.leave()) {}
  HeldTensor& operator=(HeldTensor&&) = delete;
  ~HeldTensor() {
    if (tensor_ != nullptr) (*runtime_)->TF_DeleteTensor(tensor_);
  }
  TF_Tensor* get() const { return tensor_; }
  TF_Tensor* leave() {
    TF_Tensor* tensor = tensor_;
    tensor_ = nullptr;
    return tensor;
  }
  const std::shared_ptr<Runtime>& runtime() const { return runtime_; }

 private:
  std::shared_ptr<Runtime> runtime_;
  TF_Tensor* tensor_;
};

// Makes the tensor for a run. It uses the caller's own memory, which must outlive it, or a copy when
// `copied`; text is always copied. `name` is for messages.
HeldTensor hand_in(const std::shared_ptr<Runtime>& runtime, const engine_tensor& tensor, const char* name,
                   bool copied, engine_call* call);

// Gives a result to the host, without a copy when nothing else (an input, a constant, a variable) holds its
// memory.
void hand_out(HeldTensor value, uint32_t output, const char* name, engine_results* results);

}  // namespace enginehost::engines::tensorflow
