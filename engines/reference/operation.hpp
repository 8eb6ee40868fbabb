// The operations of ONNX opset 13 that this engine computes, on float32 in host memory.
#pragma once
#include "engines/reference/attributes.hpp"
#include "engines/reference/kernels.hpp"
#include "engines/reference/progress.hpp"
#include "engines/support/tensor.hpp"

namespace enginehost::engines::reference {

// Provides memory for an operation's one result once its shape is known. A base class without virtual
// functions, which would need symbols of the C++ runtime library.
struct Destination {
  // Returns the memory to fill, or nullptr when there is none left.
  float* (*reserve)(Destination* self, int32_t ndim, const int64_t* shape);
};

struct OperationCall {
  const Kernels& kernels;
  const char* name;
  const engine_tensor* const* inputs;  // float32, compact, in host memory, as check_inputs() ensures
  size_t input_count;
  Attributes attributes;
  Destination& destination;
  engine_call* call;
};

using OperationFunction = engine_status (*)(const OperationCall&);

struct Operation {
  const char* name;
  size_t minimum_inputs, maximum_inputs;
  OperationFunction run;
};

// Returns nullptr for an operation that this engine lacks; names are case sensitive, as in ONNX.
const Operation* find_operation(const char* name);
engine_status unknown_operation(const char* name, engine_call* call);

// Checks the number, types, devices and compactness of the inputs.
engine_status check_inputs(const Operation& operation, const engine_tensor* const* inputs, size_t count,
                           engine_call* call);

// Reserves the result. Without memory it refuses with ENGINE_NO_MEMORY and a message that names the
// operation.
engine_status reserve(const OperationCall& call, int32_t ndim, const int64_t* shape, float*& out);

// Computes the common shape of two operands under ONNX's multidirectional broadcasting; false when they do
// not fit. `out` has space for maximum_rank sizes.
bool broadcast(int32_t left_rank, const int64_t* left, int32_t right_rank, const int64_t* right,
               int32_t& rank, int64_t* out);

engine_status add(const OperationCall& call);
engine_status multiply(const OperationCall& call);
engine_status relu(const OperationCall& call);
engine_status softmax(const OperationCall& call);
engine_status matrix_product(const OperationCall& call);
engine_status convolution(const OperationCall& call);

}  // namespace enginehost::engines::reference
