// Converts between tensors of the plugin ABI and values of ONNX Runtime.
#pragma once
#include "engines/onnxruntime/runtime.hpp"
#include "engines/support/tensor.hpp"

namespace enginehost::engines::onnxruntime {

// Returns 0 for a type that ONNX Runtime does not have.
int to_ort_type(engine_dtype type);
// Returns bits 0 for a type that the ABI has no name for.
engine_dtype from_ort_type(int type);

// Makes a value over the tensor's own memory, which must outlive it; text is copied. `name` is for messages.
HeldValue borrow(const Runtime& runtime, const engine_tensor& tensor, const char* name, engine_call* call);

// Makes a tensor over the value's own memory and keeps the value and the runtime alive; text is copied.
engine_owned_tensor* wrap(const std::shared_ptr<Runtime>& runtime, HeldValue value, const char* name);

}  // namespace enginehost::engines::onnxruntime
