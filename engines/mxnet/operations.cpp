// engine.op/1: a network of one node for each operation, its types and shapes, kept for later calls. Names,
// attributes and rules are those of ONNX opset 13; requests that MXNet would treat differently are refused.
#include <algorithm>
#include <array>
#include <cstring>

#include "engines/mxnet/instance.hpp"
#include "engines/support/onnx_rules.hpp"

namespace enginehost::engines::mxnet {
namespace {

constexpr size_t most_kept = 64;

struct Operation {
  const char* name;
  size_t inputs;
  const char* kind;  // MXNet's
};
constexpr Operation known[] = {
    {"Add", 2, "broadcast_add"}, {"Div", 2, "broadcast_div"}, {"Exp", 1, "exp"},
    {"MatMul", 2, "dot"},        {"Mul", 2, "broadcast_mul"}, {"Relu", 1, "relu"},
    {"Sigmoid", 1, "sigmoid"},   {"Softmax", 1, "softmax"},   {"Sqrt", 1, "sqrt"},
    {"Sub", 2, "broadcast_sub"}, {"Tanh", 1, "tanh"},
};

const Operation& find(const char* name, engine_call* call) {
  std::string names;
  for (const Operation& one : known) {
    if (std::strcmp(one.name, name) == 0) return one;
    names.append(names.empty() ? "" : ", ").append(one.name);
  }
  call->detail(call, "operation", name);
  throw Failure{ENGINE_UNSUPPORTED,
                std::string("This adapter has no operation \"") + name + "\"; it has " + names + "."};
}

// The only supported attribute is Softmax's axis; it is formatted again as a number.
std::string attributes_of(const Operation& operation, const Attributes<Failure>& attributes) {
  if (std::strcmp(operation.kind, "softmax") != 0) {
    attributes.allow({});
    return "";
  }
  attributes.allow({"axis"});
  return R"(, "attrs": {"axis": ")" + std::to_string(attributes.integer("axis", -1)) + "\"}";
}

// Returns the JSON of Symbol.save, reduced to what Symbol.load needs.
std::string symbol_of(const Operation& operation, const std::string& attributes, int version) {
  std::string nodes, edges, arguments;
  for (size_t i = 0; i < operation.inputs; i++) {
    const std::string number = std::to_string(i), comma = i == 0 ? "" : ", ";
    nodes += R"({"op": "null", "name": "input)" + number + R"(", "inputs": []}, )";
    edges += comma + "[" + number + ", 0, 0]";
    arguments += comma + number;
  }
  nodes += std::string(R"({"op": ")") + operation.kind + R"(", "name": "result")" + attributes +
           R"(, "inputs": [)" + edges + "]}";
  return R"({"nodes": [)" + nodes + R"(], "arg_nodes": [)" + arguments + R"(], "heads": [[)" +
         std::to_string(operation.inputs) + R"(, 0, 0]], "attrs": {"mxnet_version": ["int", )" +
         std::to_string(version) + "]}}";
}

bool is_product(const Operation& operation) { return std::strcmp(operation.kind, "dot") == 0; }

// The inputs, all with as many axes as the one that has most, and at least one: MXNet broadcasts axes of size
// 1 but supports neither scalars nor missing axes.
class Aligned {
 public:
  Aligned(const Operation& operation, const engine_tensor* const* inputs) {
    for (size_t i = 0; i < operation.inputs; i++) rank_ = std::max(rank_, inputs[i]->ndim);
    const int32_t axes = is_product(operation) ? 0 : std::max(rank_, 1);
    for (size_t i = 0; i < operation.inputs; i++) {
      std::vector<int64_t>& shape = shapes_[i];
      for (int32_t axis = inputs[i]->ndim; axis < axes; axis++) shape.push_back(1);
      shape.insert(shape.end(), inputs[i]->shape, inputs[i]->shape + inputs[i]->ndim);
      tensors_[i] = *inputs[i];
      tensors_[i].strides = nullptr;  // compact, as check_tensor has verified
      tensors_[i].ndim = static_cast<int32_t>(shape.size());
      tensors_[i].shape = shape.data();
    }
  }
  Aligned(const Aligned&) = delete;
  Aligned& operator=(const Aligned&) = delete;
  const engine_tensor& operator[](size_t i) const { return tensors_[i]; }
  bool scalar() const { return rank_ == 0; }

 private:
  int32_t rank_ = 0;
  std::array<std::vector<int64_t>, 2> shapes_;
  std::array<engine_tensor, 2> tensors_{};
};

// MXNet reports other types as a failed check of its own.
bool has_code_for(const Operation& operation, engine_dtype type) {
  if (is_product(operation)) return type.code == ENGINE_FLOAT && type.bits >= 32;
  return std::strcmp(operation.kind, "softmax") != 0 || type.code == ENGINE_FLOAT;
}

// Both inputs must have the same element type. MXNet's dot sums over one axis of each, which for matrices
// equals ONNX's MatMul.
void check_inputs(const Operation& operation, const engine_tensor* const* inputs, engine_call* call) {
  for (size_t i = 0; i < operation.inputs; i++) {
    const std::string name = "input " + std::to_string(i) + " of " + operation.name;
    check_tensor_of(*inputs[i], name.c_str(), call);
    if (!same_type(inputs[i]->dtype, inputs[0]->dtype)) {
      Text text;
      text << "The inputs of " << operation.name << " are of the types ";
      text.type(inputs[0]->dtype) << " and ";
      throw Failure{ENGINE_INVALID, (text.type(inputs[i]->dtype) << ".").c_str()};
    }
    if (!has_code_for(operation, inputs[i]->dtype)) {
      Text text;
      text << operation.name << " of ";
      throw Failure{ENGINE_UNSUPPORTED,
                    (text.type(inputs[i]->dtype) << " is not computed by MXNet.").c_str()};
    }
    if (is_product(operation) && inputs[i]->ndim != 2) {
      throw Failure{ENGINE_UNSUPPORTED, "MatMul is computed for matrices only, and " + name + " has " +
                                            std::to_string(inputs[i]->ndim) + " dimensions."};
    }
  }
}

// Handles inputs without elements by ONNX's rules, because MXNet cannot: nothing is computed.
void give_without_elements(const Operation& operation, const Aligned& inputs, engine_results* results) {
  std::vector<int64_t> shape(inputs[0].shape, inputs[0].shape + inputs[0].ndim);
  bool fits = true;
  if (is_product(operation)) {
    fits = shape[1] == inputs[1].shape[0];
    shape[1] = inputs[1].shape[1];
  } else if (operation.inputs == 2) {
    for (size_t axis = 0; axis < shape.size(); axis++) {
      const int64_t other = inputs[1].shape[axis];
      fits = fits && (shape[axis] == other || shape[axis] == 1 || other == 1);
      if (shape[axis] == 1) shape[axis] = other;
    }
  }
  const auto rank = static_cast<int32_t>(shape.size());
  Text why;
  if (!fits || !check_shape(inputs[0].dtype, rank, shape.data(), why))
    throw Failure{ENGINE_INVALID,
                  std::string("The shapes of the inputs of ") + operation.name + " do not fit."};
  engine_owned_tensor* out = make_host_tensor(inputs[0].dtype, rank, shape.data());
  if (out == nullptr) throw Failure{ENGINE_NO_MEMORY, "There is no memory for a result."};
  // A product over an axis of size 0 is a matrix of zeros.
  std::memset(out->tensor.data, 0, byte_count(inputs[0].dtype, rank, shape.data()));
  results->give(results, 0, nullptr, out);
}

engine_status run_operation(engine_instance* engine, const char* name, const engine_tensor* const* inputs,
                            size_t input_count, const engine_entry* attributes, size_t attribute_count,
                            engine_results* results, engine_call* call) noexcept {
  return catch_all(call, [&] {
    const Operation& operation = find(name, call);
    if (input_count != operation.inputs) {
      call->detail(call, "operation", name);
      throw Failure{ENGINE_INVALID, std::string(name) + " takes " + std::to_string(operation.inputs) +
                                        " inputs, not " + std::to_string(input_count) + "."};
    }
    check_inputs(operation, inputs, call);
    const Attributes<Failure> asked(name, attributes, attribute_count, call);
    check_onnx_rules(name, inputs, input_count, asked);
    const std::string more = attributes_of(operation, asked);
    const Aligned aligned(operation, inputs);
    for (size_t i = 0; i < input_count; i++) {
      if (element_count(aligned[i].ndim, aligned[i].shape) == 0)
        return give_without_elements(operation, aligned, results);
    }
    std::vector<GivenInput> given;
    std::string key = name + more;
    for (size_t i = 0; i < input_count; i++) {
      const std::string input = "input " + std::to_string(i) + " of " + name;
      check_input(aligned[i], input.c_str(), call);
      given.push_back({"input" + std::to_string(i), &aligned[i]});
      Text text;
      text.type(aligned[i].dtype).shape(aligned[i].ndim, aligned[i].shape);
      key.append(";").append(text.c_str());
    }
    auto found = engine->operations.find(key);
    if (found == engine->operations.end() || !found->second->fits(given)) {
      if (engine->operations.size() >= most_kept) engine->operations.clear();
      const Network network{symbol_of(operation, more, engine->runtime->version_number()), no_parameters()};
      auto prepared = std::make_unique<Prepared>(engine->runtime, engine->operations_on, network, given);
      found = engine->operations.insert_or_assign(key, std::move(prepared)).first;
    }
    found->second->run(given, 1, aligned.scalar(), results, call);
  });
}

}  // namespace

extern const engine_op_v1 operation_table = {run_operation};

}  // namespace enginehost::engines::mxnet
