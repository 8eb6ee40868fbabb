// engine.op/1: each operation becomes nodes of one graph, kept for later calls. Names, attributes and rules
// are those of ONNX opset 13; requests that TensorFlow would treat differently are refused.
#include <cstring>

#include "engines/tensorflow/instance.hpp"
#include "engines/tensorflow/run.hpp"

namespace enginehost::engines::tensorflow {
namespace {

struct Operation {
  const char* name;
  int inputs;
  const char* kind;        // TensorFlow's
  const char* whole_kind;  // for integers, where ONNX rounds differently
};
constexpr Operation known[] = {
    {"Add", 2, "AddV2", nullptr},       {"Div", 2, "RealDiv", "TruncateDiv"},
    {"Exp", 1, "Exp", nullptr},         {"MatMul", 2, "BatchMatMulV2", nullptr},
    {"Mul", 2, "Mul", nullptr},         {"Relu", 1, "Relu", nullptr},
    {"Sigmoid", 1, "Sigmoid", nullptr}, {"Softmax", 1, "Softmax", nullptr},
    {"Sqrt", 1, "Sqrt", nullptr},       {"Sub", 2, "Sub", nullptr},
    {"Tanh", 1, "Tanh", nullptr},
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

// The only supported attribute is Softmax's axis, and only the last axis, along which TensorFlow computes.
void check_attributes(const Operation& operation, const engine_tensor* const* inputs,
                      const engine_entry* attributes, size_t count, engine_call* call) {
  for (size_t i = 0; i < count; i++) {
    const bool axis =
        std::strcmp(operation.name, "Softmax") == 0 && std::strcmp(attributes[i].key, "axis") == 0;
    if (axis && (std::strcmp(attributes[i].value, "-1") == 0 ||
                 std::to_string(inputs[0]->ndim - 1) == attributes[i].value)) {
      continue;
    }
    call->detail(call, "operation", operation.name);
    throw Failure{axis ? ENGINE_UNSUPPORTED : ENGINE_INVALID,
                  std::string(operation.name) +
                      (axis ? " computes along the last axis only, not axis " : " has no attribute ") +
                      (axis ? attributes[i].value : attributes[i].key) + "."};
  }
}

// Names the inputs' devices if they differ, as the table's contract requires.
void check_devices(const Operation& operation, const engine_tensor* const* inputs, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (in_host_memory(inputs[i]->device)) continue;
    Text text;
    text << "Input " << static_cast<int64_t>(i) << " of " << operation.name << " is on ";
    throw Failure{ENGINE_INVALID,
                  (text.device(inputs[i]->device) << "; this engine computes on cpu:0.").c_str()};
  }
}

int common_type(const Operation& operation, const engine_tensor* const* inputs, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const int type = to_tensorflow_type(inputs[i]->dtype);
    if (type != 0 && same_type(inputs[i]->dtype, inputs[0]->dtype)) continue;
    Text text;
    text << "Input " << static_cast<int64_t>(i) << " of " << operation.name << " is of the type ";
    text.type(inputs[i]->dtype) << (type == 0 ? ", which TensorFlow does not have."
                                              : ", and the first is not.");
    throw Failure{type == 0 ? ENGINE_UNSUPPORTED : ENGINE_INVALID, text.c_str()};
  }
  return to_tensorflow_type(inputs[0]->dtype);
}

TF_Operation* add_node(const Session& session, const char* kind, const std::string& name,
                       const char* attribute, int type, const std::vector<TF_Output>& inputs) {
  const Runtime& runtime = *session.runtime();
  const Status status(runtime);
  TF_OperationDescription* node = runtime->TF_NewOperation(session.graph(), kind, name.c_str());
  for (const TF_Output& input : inputs) runtime->TF_AddInput(node, input);
  runtime->TF_SetAttrType(node, attribute, type);
  TF_Operation* made = runtime->TF_FinishOperation(node, status.get());
  if (status.code() == 0) return made;
  // The graph accepts any type at first; an error here means that the operation has no code for the type.
  Failure failure = status.failure(ENGINE_UNSUPPORTED);
  failure.status = ENGINE_UNSUPPORTED;
  throw failure;
}

const engine_instance::Node& node_of(engine_instance* engine, const Operation& operation, int type,
                                     bool whole) {
  const char* kind = whole && operation.whole_kind != nullptr ? operation.whole_kind : operation.kind;
  const std::string name = std::string(kind) + "_" + std::to_string(type);
  const std::lock_guard lock(engine->nodes_mutex);
  auto found = engine->nodes.find(name);
  if (found != engine->nodes.end()) return found->second;
  engine_instance::Node node{};
  for (int i = 0; i < operation.inputs; i++) {
    // An unfinished node keeps its name, so each attempt uses a new one.
    const std::string input = name + "_input_" + std::to_string(i) + "_" + std::to_string(engine->tries++);
    node.inputs.push_back({add_node(*engine->session, "Placeholder", input, "dtype", type, {}), 0});
  }
  const std::string unique = name + "_" + std::to_string(engine->tries++);
  node.output = {add_node(*engine->session, kind, unique, "T", type, node.inputs), 0};
  return engine->nodes.emplace(name, std::move(node)).first->second;
}

engine_status run_operation(engine_instance* engine, const char* name, const engine_tensor* const* inputs,
                            size_t input_count, const engine_entry* attributes, size_t attribute_count,
                            engine_results* results, engine_call* call) noexcept {
  return catch_all(call, [&] {
    const Operation& operation = find(name, call);
    if (input_count != static_cast<size_t>(operation.inputs)) {
      call->detail(call, "operation", name);
      throw Failure{ENGINE_INVALID, std::string(name) + " takes " + std::to_string(operation.inputs) +
                                        " inputs, not " + std::to_string(input_count) + "."};
    }
    check_devices(operation, inputs, input_count);
    check_attributes(operation, inputs, attributes, attribute_count, call);
    const int type = common_type(operation, inputs, input_count);
    const bool whole = inputs[0]->dtype.code == ENGINE_INT || inputs[0]->dtype.code == ENGINE_UINT;
    const engine_instance::Node& node = node_of(engine, operation, type, whole);
    std::vector<HeldTensor> values;
    for (size_t i = 0; i < input_count; i++) {
      const std::string input = "input " + std::to_string(i) + " of " + name;
      values.push_back(hand_in(engine->runtime, *inputs[i], input.c_str(), false, call));
    }
    std::vector<HeldTensor> made =
        run_session(*engine->session, engine->host, node.inputs, values, {node.output}, call);
    hand_out(std::move(made.front()), 0, name, results);
  });
}

}  // namespace

extern const engine_op_v1 operation_table = {run_operation};

}  // namespace enginehost::engines::tensorflow
