// Writes networks as MXNet saves them: a symbol in JSON and parameters in the format of NDArray::Save.
#pragma once
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace enginehost::engines::tests::mxnet {

template <class Number>
std::string raw(Number value) {
  std::string out(sizeof value, '\0');
  std::memcpy(out.data(), &value, sizeof value);
  return out;
}

struct Parameter {
  std::string name;  // with "arg:" or "aux:" before it
  std::vector<int64_t> shape;
  std::vector<float> values;
};

// The file: magic, reserved, arrays, names. An array: magic (second version), storage, rank, sizes, device
// type and index, element type, data.
inline std::string parameters(const std::vector<Parameter>& all) {
  std::string out = raw<uint64_t>(0x112) + raw<uint64_t>(0) + raw<uint64_t>(all.size());
  for (const Parameter& one : all) {
    out += raw<uint32_t>(0xF993FAC9) + raw<int32_t>(0) + raw<int32_t>(static_cast<int32_t>(one.shape.size()));
    for (int64_t size : one.shape) out += raw(size);
    out += raw<int32_t>(1) + raw<int32_t>(0) + raw<int32_t>(0);
    for (float value : one.values) out += raw(value);
  }
  out += raw<uint64_t>(all.size());
  for (const Parameter& one : all) out += raw<uint64_t>(one.name.size()) + one.name;
  return out;
}

// y = relu(W x + b), W = [[1,3,5],[2,4,6]], b = [-10, 0.5]: [1,2,3] gives [12, 28.5] and [-1,0,0] gives [0,
// 0], computed by hand.
inline const char* const layer_symbol = R"({
  "nodes": [
    {"op": "null", "name": "data", "inputs": []},
    {"op": "null", "name": "fc_weight", "inputs": []},
    {"op": "null", "name": "fc_bias", "inputs": []},
    {"op": "FullyConnected", "name": "fc", "attrs": {"num_hidden": "2"}, "inputs": [[0, 0, 0], [1, 0, 0], [2, 0, 0]]},
    {"op": "Activation", "name": "relu", "attrs": {"act_type": "relu"}, "inputs": [[3, 0, 0]]}
  ],
  "arg_nodes": [0, 1, 2],
  "heads": [[4, 0, 0]],
  "attrs": {"mxnet_version": ["int", 10901]}
})";
inline std::string layer_parameters() {
  return parameters({{"arg:fc_weight", {2, 3}, {1, 3, 5, 2, 4, 6}}, {"arg:fc_bias", {2}, {-10, 0.5f}}});
}

inline void write(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}
// folder/layer-symbol.json and folder/layer-0000.params; returns the symbol's path.
inline std::string write_layer(const std::filesystem::path& folder) {
  write(folder / "layer-symbol.json", layer_symbol);
  write(folder / "layer-0000.params", layer_parameters());
  return (folder / "layer-symbol.json").string();
}

}  // namespace enginehost::engines::tests::mxnet
