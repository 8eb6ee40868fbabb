// Tensors of the plugin ABI and values of ONNX Runtime, into each other.
#pragma once
#include "engines/onnxruntime/runtime.hpp"
#include "engines/support/tensor.hpp"

namespace enginehost::engines::onnxruntime {

// 0 for a type ONNX Runtime does not have.
int to_ort_type(engine_dtype type);
// Bits 0 for a type the ABI has no name for.
engine_dtype from_ort_type(int type);

// A value over the tensor's own memory, which must outlive it; text is copied. `name` is for messages.
HeldValue borrow(const Runtime& runtime, const engine_tensor& tensor, const char* name, engine_call* call);

// A tensor over the value's own memory, which it keeps together with the runtime; text is copied.
engine_owned_tensor* wrap(const std::shared_ptr<Runtime>& runtime, HeldValue value, const char* name);

}  // namespace enginehost::engines::onnxruntime
