// Writes SavedModels: a graph of a few nodes with signatures, in Protocol Buffers written by hand (the
// messages of tensorflow/core/framework and tensorflow/core/protobuf, whose field numbers stand beside each
// function).
#pragma once
#include <sys/stat.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace enginehost::engines::tests::tensorflow {

inline std::string varint(uint64_t value) {
  std::string out;
  for (; value > 127; value >>= 7) out += static_cast<char>((value & 127) | 128);
  return out + static_cast<char>(value);
}
inline std::string number(uint64_t field, uint64_t value) { return varint(field << 3) + varint(value); }
inline std::string bytes(uint64_t field, const std::string& text) {
  return varint(field << 3 | 2) + varint(text.size()) + text;
}

enum Type : uint64_t { float32 = 1, float64 = 2, int32 = 3, string = 7, int64 = 9 };

// TensorShapeProto: dim 2 { size 1, name 2 }
inline std::string shape(const std::vector<int64_t>& sizes, const std::vector<std::string>& names = {}) {
  std::string out;
  for (size_t i = 0; i < sizes.size(); i++) {
    std::string size = number(1, static_cast<uint64_t>(sizes[i]));
    if (i < names.size()) size += bytes(2, names[i]);
    out += bytes(2, size);
  }
  return out;
}
// One entry of NodeDef.attr 5, a map from a name to an AttrValue
inline std::string attribute(const std::string& name, const std::string& value) {
  return bytes(5, bytes(1, name) + bytes(2, value));
}
inline std::string type_attribute(const std::string& name, uint64_t type) {
  return attribute(name, number(6, type));
}
// NodeDef: name 1, op 2, input 3, attr 5
inline std::string node(const std::string& name, const std::string& kind,
                        const std::vector<std::string>& inputs, const std::string& attributes) {
  std::string out = bytes(1, name) + bytes(2, kind);
  for (const std::string& input : inputs) out += bytes(3, input);
  return out + attributes;
}
inline std::string placeholder(const std::string& name, uint64_t type, const std::vector<int64_t>& sizes) {
  return node(name, "Placeholder", {},
              type_attribute("dtype", type) + attribute("shape", bytes(7, shape(sizes))));
}
// TensorProto: dtype 1, tensor_shape 2, tensor_content 4
inline std::string constant(const std::string& name, const std::vector<int64_t>& sizes,
                            const std::vector<float>& values) {
  std::string content(values.size() * sizeof(float), '\0');
  std::memcpy(content.data(), values.data(), content.size());
  std::string tensor = number(1, float32) + bytes(2, shape(sizes)) + bytes(4, content);
  return node(name, "Const", {}, type_attribute("dtype", float32) + attribute("value", bytes(8, tensor)));
}

// TensorInfo: name 1, dtype 2, tensor_shape 3
inline std::string endpoint(const std::string& tensor, uint64_t type, const std::string& shape_bytes) {
  return bytes(1, tensor) + number(2, type) + bytes(3, shape_bytes);
}
// TensorInfo: coo_sparse 4 { values_tensor_name 1 }
inline std::string sparse_endpoint(const std::string& tensor) {
  return number(2, float32) + bytes(4, bytes(1, tensor));
}

struct Signature {
  std::string name;
  std::vector<std::pair<std::string, std::string>> inputs, outputs;  // name and TensorInfo
};

struct SavedModel {
  std::vector<std::string> nodes;
  std::vector<std::string> functions;  // FunctionDef
  std::vector<Signature> signatures;
  std::string tag = "serve";

  // MetaGraphDef: meta_info_def 1 { tags 4, tensorflow_version 5 }, graph_def 2, signature_def 5
  std::string meta_graph() const {
    std::string graph, library;
    for (const std::string& one : nodes) graph += bytes(1, one);
    for (const std::string& one : functions) library += bytes(1, one);
    if (!library.empty()) graph += bytes(2, library);
    graph += bytes(4, number(1, 1087));  // VersionDef: producer 1; 2.10 and later read it
    std::string out = bytes(1, bytes(4, tag) + bytes(5, "2.10.1")) + bytes(2, graph);
    for (const Signature& signature : signatures) {
      std::string definition;
      for (const auto& [name, info] : signature.inputs)
        definition += bytes(1, bytes(1, name) + bytes(2, info));
      for (const auto& [name, info] : signature.outputs)
        definition += bytes(2, bytes(1, name) + bytes(2, info));
      definition += bytes(3, "tensorflow/serving/predict");
      out += bytes(5, bytes(1, signature.name) + bytes(2, definition));
    }
    return out;
  }
  // SavedModel: saved_model_schema_version 1, meta_graphs 2
  void write(const std::filesystem::path& folder) const {
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "saved_model.pb", std::ios::binary) << number(1, 1) + bytes(2, meta_graph());
  }
};

// y = relu(x * W + b) for rows of three, W = [[1,2],[3,4],[5,6]], b = [-10, 0.5]: [1,2,3] gives [12, 28.5]
// and [-1,0,0] gives [0, 0], computed by hand.
inline SavedModel layer() {
  SavedModel out;
  const std::string type = type_attribute("T", float32);
  out.nodes = {placeholder("serving_x", float32, {-1, 3}),
               constant("weights", {3, 2}, {1, 2, 3, 4, 5, 6}),
               constant("bias", {2}, {-10, 0.5f}),
               node("product", "MatMul", {"serving_x", "weights"}, type),
               node("sum", "AddV2", {"product", "bias"}, type),
               node("result", "Relu", {"sum"}, type)};
  out.signatures = {{"serving_default",
                     {{"x", endpoint("serving_x:0", float32, shape({-1, 3}, {"batch", ""}))}},
                     {{"y", endpoint("result:0", float32, shape({-1, 2}))}}}};
  return out;
}

}  // namespace enginehost::engines::tests::tensorflow
