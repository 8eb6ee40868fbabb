#include "engines/reference/operation.hpp"

namespace enginehost::engines::reference {
namespace {
constexpr Operation operations[] = {
    {"Add", 2, 2, add},      {"Conv", 2, 3, convolution}, {"MatMul", 2, 2, matrix_product},
    {"Mul", 2, 2, multiply}, {"Relu", 1, 1, relu},        {"Softmax", 1, 1, softmax},
};
}  // namespace

const Operation* find_operation(const char* name) {
  for (const Operation& operation : operations) {
    if (std::strcmp(operation.name, name) == 0) return &operation;
  }
  return nullptr;
}

engine_status unknown_operation(const char* name, engine_call* call) {
  call->detail(call, "operation", name);
  Text text;
  text << "The reference engine has no operation \"" << name << "\"; it has";
  for (const Operation& operation : operations)
    text << (&operation == operations ? " " : ", ") << operation.name;
  return refuse(call, ENGINE_UNSUPPORTED, "reference", text << ".");
}

engine_status check_inputs(const Operation& operation, const engine_tensor* const* inputs, size_t count,
                           engine_call* call) {
  auto fail = [&](engine_status status, const Text& text) {
    call->detail(call, "operation", operation.name);
    return refuse(call, status, "reference", text);
  };
  if (count < operation.minimum_inputs || count > operation.maximum_inputs) {
    Text text;
    text << operation.name << " takes " << static_cast<int64_t>(operation.minimum_inputs);
    if (operation.maximum_inputs != operation.minimum_inputs) {
      text << " to " << static_cast<int64_t>(operation.maximum_inputs);
    }
    return fail(ENGINE_INVALID, text << " inputs, and " << static_cast<int64_t>(count) << " were given.");
  }
  for (size_t i = 0; i < count; i++) {
    if (!in_host_memory(inputs[i]->device)) {
      Text text;
      text << "Input " << static_cast<int64_t>(i) << " of " << operation.name << " is on ";
      return fail(ENGINE_INVALID, text.device(inputs[i]->device) << "; this engine computes on cpu:0.");
    }
  }
  for (size_t i = 0; i < count; i++) {
    const engine_tensor& input = *inputs[i];
    Text text, why;
    text << "Input " << static_cast<int64_t>(i) << " of " << operation.name << " ";
    if (!is_float32(input.dtype)) {
      return fail(ENGINE_UNSUPPORTED, (text << "is ").type(input.dtype)
                                          << "; this engine computes with float32.");
    }
    if (!check_tensor(input, why)) return fail(ENGINE_INVALID, text << why.c_str() << ".");
  }
  return ENGINE_OK;
}

engine_status reserve(const OperationCall& call, int32_t ndim, const int64_t* shape, float*& out) {
  Text why, text;
  if (!check_shape({ENGINE_FLOAT, 32, 1}, ndim, shape, why)) {
    return refuse(call.call, ENGINE_INVALID, "reference",
                  text << "The result of " << call.name << " " << why.c_str() << ".");
  }
  out = call.destination.reserve(&call.destination, ndim, shape);
  if (out != nullptr) return ENGINE_OK;
  text << "There is no memory for the result of " << call.name << ", shape ";
  return refuse(call.call, ENGINE_NO_MEMORY, "reference", text.shape(ndim, shape));
}

bool broadcast(int32_t left_rank, const int64_t* left, int32_t right_rank, const int64_t* right,
               int32_t& rank, int64_t* out) {
  rank = left_rank > right_rank ? left_rank : right_rank;
  for (int32_t i = 0; i < rank; i++) {
    int64_t a = i < rank - left_rank ? 1 : left[i - (rank - left_rank)];
    int64_t b = i < rank - right_rank ? 1 : right[i - (rank - right_rank)];
    if (a != b && a != 1 && b != 1) return false;
    out[i] = a == 1 ? b : a;
  }
  return true;
}

}  // namespace enginehost::engines::reference
