#include "engines/pytorch/ports.hpp"

#include <ATen/ATen.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/passes/inliner.h>

#include <limits>

namespace enginehost::engines::pytorch {
namespace {

constexpr engine_dtype any_type = {0, 0, 1};
constexpr int64_t any_size = -1;

bool is_list_of(const c10::TypePtr& type, c10::TypeKind element) {
  auto list = type->cast<c10::ListType>();
  return list != nullptr && list->getElementType()->kind() == element;
}
bool is_dictionary_of_tensors(const c10::TypePtr& type) {
  auto dictionary = type->cast<c10::DictType>();
  return dictionary != nullptr && dictionary->getKeyType()->kind() == c10::TypeKind::StringType &&
         dictionary->getValueType()->kind() == c10::TypeKind::TensorType;
}

// Sets type and rank of a port; false when the ABI cannot represent `type`.
bool describe_type(const c10::TypePtr& type, engine_port& port) {
  port.ndim = -1;
  port.dtype = any_type;
  switch (type->kind()) {
    case c10::TypeKind::TensorType:
      return true;
    case c10::TypeKind::IntType:
      port.ndim = 0;
      port.dtype = {ENGINE_INT, 64, 1};
      return true;
    case c10::TypeKind::FloatType:
      port.ndim = 0;
      port.dtype = {ENGINE_FLOAT, 64, 1};
      return true;
    case c10::TypeKind::BoolType:
      port.ndim = 0;
      port.dtype = {ENGINE_BOOL, 8, 1};
      return true;
    default:
      break;
  }
  if (is_list_of(type, c10::TypeKind::IntType) || is_list_of(type, c10::TypeKind::FloatType)) {
    port.ndim = 1;
    port.shape = &any_size;
    port.dtype = is_list_of(type, c10::TypeKind::IntType) ? engine_dtype{ENGINE_INT, 64, 1}
                                                          : engine_dtype{ENGINE_FLOAT, 64, 1};
    return true;
  }
  if (is_list_of(type, c10::TypeKind::TensorType) || is_dictionary_of_tensors(type)) {
    port.flags |= ENGINE_PORT_REPEATED;
    return true;
  }
  return false;
}

bool writes(const torch::jit::Block* block) {
  for (const torch::jit::Node* node : block->nodes()) {
    if (const c10::FunctionSchema* schema = node->maybeSchema()) {
      if (schema->is_mutable()) return true;
    }
    // A call that could not be inlined may do anything.
    if (node->kind() == c10::prim::CallMethod || node->kind() == c10::prim::CallFunction) return true;
    for (const torch::jit::Block* inner : node->blocks()) {
      if (writes(inner)) return true;
    }
  }
  return false;
}

engine_port output_port(Method& method, const std::string& name, const c10::TypePtr& type) {
  engine_port port{};
  port.name = method.texts.emplace_back(name).c_str();
  if (!describe_type(type, port)) port.flags |= ENGINE_PORT_REPEATED;  // nested values are given with names
  return port;
}

void describe_outputs(const c10::FunctionSchema& schema, Method& method) {
  if (schema.returns().empty()) return;
  c10::TypePtr type = schema.returns()[0].type();
  if (type->kind() == c10::TypeKind::NoneType) return;
  auto tuple = type->cast<c10::TupleType>();
  if (tuple == nullptr) {
    method.outputs.push_back(output_port(method, "output", type));
    return;
  }
  method.several_outputs = true;
  size_t number = 0;
  for (const c10::TypePtr& element : tuple->elements()) {
    std::string name = std::to_string(number);
    if (tuple->schema() != nullptr) name = tuple->schema()->arguments()[number].name();  // a named tuple
    method.outputs.push_back(output_port(method, name, element));
    number++;
  }
}

}  // namespace

Method describe(const torch::jit::Method& method) {
  Method out;
  out.name = method.name();
  const c10::FunctionSchema& schema = method.function().getSchema();
  for (size_t i = 1; i < schema.arguments().size(); i++) {  // the first is the module itself
    const c10::Argument& argument = schema.arguments()[i];
    engine_port port{};
    c10::TypePtr type = argument.type();
    bool may_be_left_out = argument.default_value().has_value();
    if (auto optional = type->cast<c10::OptionalType>()) type = optional->getElementType();
    if (!describe_type(type, port)) {
      if (may_be_left_out) break;  // and so must all after it
      throw Failure{ENGINE_UNSUPPORTED, "The argument \"" + argument.name() + "\" of " + out.name +
                                            "() is of the type " + type->str() +
                                            ", which the plugin ABI cannot represent."};
    }
    if (may_be_left_out) port.flags |= ENGINE_PORT_OPTIONAL;
    port.name = out.texts.emplace_back(argument.name()).c_str();
    out.inputs.push_back(port);
    out.input_types.push_back(type);
  }
  describe_outputs(schema, out);
  std::shared_ptr<torch::jit::Graph> graph = method.graph()->copy();
  torch::jit::Inline(*graph);
  out.writes_to_tensors = writes(graph->block());
  return out;
}

c10::IValue to_argument(const c10::TypePtr& type, const std::vector<at::Tensor>& given,
                        const std::vector<std::string>& names, const std::string& argument) {
  auto invalid = [&](const std::string& why) {
    return Failure{ENGINE_INVALID, "Input \"" + argument + "\" " + why + "."};
  };
  if (is_list_of(type, c10::TypeKind::TensorType)) return c10::IValue(c10::List<at::Tensor>(given));
  if (is_dictionary_of_tensors(type)) {
    c10::Dict<std::string, at::Tensor> dictionary;
    for (size_t i = 0; i < given.size(); i++) {
      if (names[i].empty()) throw invalid("is a dictionary, and a value came without a key");
      dictionary.insert(names[i], given[i]);
    }
    return c10::IValue(std::move(dictionary));
  }
  if (given.size() != 1)
    throw invalid("takes one value, and " + std::to_string(given.size()) + " were given");
  const at::Tensor& tensor = given[0];
  if (type->kind() == c10::TypeKind::TensorType) return c10::IValue(tensor);

  bool list = type->kind() == c10::TypeKind::ListType;
  c10::TypeKind element = list ? type->expect<c10::ListType>()->getElementType()->kind() : type->kind();
  if (list ? tensor.dim() != 1 : tensor.numel() != 1)
    throw invalid(list ? "takes a row of numbers"
                       : "takes one number, and a tensor of " + std::to_string(tensor.numel()) +
                             " elements was given");
  bool whole = at::isIntegralType(tensor.scalar_type(), true);
  if (!whole && element != c10::TypeKind::FloatType)
    throw invalid("takes " + type->str() + ", and a tensor of " + std::string(tensor.toString()) +
                  " was given");
  at::Tensor plain =
      tensor.to(at::kCPU, element == c10::TypeKind::FloatType ? at::kDouble : at::kLong).contiguous();
  if (element == c10::TypeKind::FloatType) {
    const double* data = plain.data_ptr<double>();
    if (!list) return c10::IValue(*data);
    return c10::IValue(std::vector<double>(data, data + plain.numel()));
  }
  const int64_t* data = plain.data_ptr<int64_t>();
  if (element == c10::TypeKind::BoolType) return c10::IValue(*data != 0);
  if (!list) return c10::IValue(*data);
  return c10::IValue(std::vector<int64_t>(data, data + plain.numel()));
}

}  // namespace enginehost::engines::pytorch
