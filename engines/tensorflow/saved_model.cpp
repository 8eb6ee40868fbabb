#include "engines/tensorflow/saved_model.hpp"

#include <algorithm>

#include "engines/tensorflow/protobuf.hpp"

namespace enginehost::engines::tensorflow {
namespace {

// TensorShapeProto: dim 2 { size 1, name 2 }, unknown_rank 3
void read_shape(std::string_view message, Endpoint& out) {
  out.known_rank = true;
  each_field(message, [&](const Field& field) {
    if (field.number == 3 && field.value != 0) out.known_rank = false;
    if (field.number != 2) return;
    int64_t size = 0;
    std::string name;
    each_field(field.bytes, [&](const Field& part) {
      if (part.number == 1) size = static_cast<int64_t>(part.value);
      if (part.number == 2) name = part.bytes;
    });
    out.sizes.push_back(size < 0 ? -1 : size);
    out.names.push_back(name);
  });
  if (!out.known_rank) {
    out.sizes.clear();
    out.names.clear();
  }
}

// TensorInfo: name 1, dtype 2, tensor_shape 3, coo_sparse 4, composite_tensor 5. False if it is no plain
// tensor.
bool read_endpoint(std::string_view message, Endpoint& out) {
  std::string tensor;
  each_field(message, [&](const Field& field) {
    if (field.number == 1) tensor = field.bytes;
    if (field.number == 2) out.type = static_cast<int>(field.value & 0x7fffffff);
    if (field.number == 3) read_shape(field.bytes, out);
  });
  return split_tensor_name(tensor, out.operation, out.index);
}

// SignatureDef: inputs 1 and outputs 2, maps from a name to a TensorInfo. Returns why it cannot be offered,
// or "".
std::string read_signature(std::string_view message, Signature& out) {
  std::string why;
  each_field(message, [&](const Field& field) {
    if (field.number != 1 && field.number != 2) return;
    Endpoint endpoint;
    endpoint.name = last_field(field.bytes, 1).bytes;
    if (!read_endpoint(last_field(field.bytes, 2).bytes, endpoint)) {
      why = "\"" + endpoint.name + "\" is no plain tensor (sparse, ragged or a composite)";
    }
    (field.number == 1 ? out.inputs : out.outputs).push_back(std::move(endpoint));
  });
  auto by_name = [](const Endpoint& a, const Endpoint& b) { return a.name < b.name; };
  std::sort(out.inputs.begin(), out.inputs.end(), by_name);
  std::sort(out.outputs.begin(), out.outputs.end(), by_name);
  if (out.outputs.empty()) why = "it has no outputs";
  return why;
}

// NodeDef: op 2
void note_operation(std::string_view node, std::set<std::string>& out) {
  each_field(node, [&](const Field& field) {
    if (field.number == 2) out.emplace(field.bytes);
  });
}

// GraphDef: node 1, library 2 { function 1 { signature 1 { name 1 }, node_def 3 } }. A function call is a
// node whose kind is the function's name, which does not show state; the function's operations are therefore
// read too.
void read_graph(std::string_view graph, std::set<std::string>& out) {
  std::set<std::string> functions;
  each_field(graph, [&](const Field& field) {
    if (field.number == 1) note_operation(field.bytes, out);
    if (field.number != 2) return;
    each_field(field.bytes, [&](const Field& function) {
      if (function.number != 1) return;
      each_field(function.bytes, [&](const Field& part) {
        if (part.number == 1) functions.emplace(last_field(part.bytes, 1).bytes);
        if (part.number == 3) note_operation(part.bytes, out);
      });
    });
  });
  for (const std::string& function : functions) out.erase(function);
}

// MetaInfoDef: tags 4, tensorflow_version 5
void read_info(std::string_view info, MetaGraph& out) {
  each_field(info, [&](const Field& field) {
    if (field.number == 4) out.tags.emplace_back(field.bytes);
    if (field.number == 5) out.version = field.bytes;
  });
}

bool comes_first(const Signature& a, const Signature& b) {
  const bool a_default = a.name == "serving_default", b_default = b.name == "serving_default";
  return a_default != b_default ? a_default : a.name < b.name;
}

}  // namespace

bool split_tensor_name(std::string_view text, std::string& operation, int& index) {
  index = 0;
  const size_t colon = text.rfind(':');
  if (colon != std::string_view::npos) {
    const std::string_view digits = text.substr(colon + 1);
    if (digits.empty() || digits.size() > 6) return false;
    for (char digit : digits) {
      if (digit < '0' || digit > '9') return false;
      index = index * 10 + (digit - '0');
    }
    text = text.substr(0, colon);
  }
  operation = text;
  return !text.empty() && text.front() != '^';
}

MetaGraph read_meta_graph(std::string_view bytes) {
  // MetaGraphDef: meta_info_def 1, graph_def 2, signature_def 5 (a map)
  MetaGraph out;
  each_field(bytes, [&](const Field& field) {
    if (field.number == 1) read_info(field.bytes, out);
    if (field.number == 2) read_graph(field.bytes, out.operations);
    if (field.number != 5) return;
    Signature signature;
    signature.name = last_field(field.bytes, 1).bytes;
    // An initialization operation of TensorFlow's own, run once while the model is loaded.
    if (signature.name == "__saved_model_init_op") return;
    const std::string why = read_signature(last_field(field.bytes, 2).bytes, signature);
    if (why.empty()) {
      out.signatures.push_back(std::move(signature));
    } else {
      out.left_out.push_back(signature.name + ": " + why);
    }
  });
  std::sort(out.signatures.begin(), out.signatures.end(), comes_first);
  return out;
}

std::set<std::string> stateless_operations(std::string_view op_list) {
  // OpList: op 1 { name 1, is_stateful 17 }
  std::set<std::string> out;
  each_field(op_list, [&](const Field& field) {
    if (field.number != 1) return;
    std::string name;
    bool stateful = false;
    each_field(field.bytes, [&](const Field& part) {
      if (part.number == 1) name = part.bytes;
      if (part.number == 17) stateful = part.value != 0;
    });
    if (!stateful) out.insert(std::move(name));
  });
  return out;
}

bool lists_gpu_kernel(std::string_view kernel_list) {
  // KernelList: kernel 1 { device_type 2 }
  bool found = false;
  each_field(kernel_list, [&](const Field& field) {
    found = found || (field.number == 1 && last_field(field.bytes, 2).bytes == "GPU");
  });
  return found;
}

}  // namespace enginehost::engines::tensorflow
