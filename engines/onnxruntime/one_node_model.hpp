// The bytes of an ONNX model of one node: Protocol Buffers written by hand, after onnx.proto of ONNX 1.8
// (opset 13).
#pragma once
#include <enginehost/engine_plugin.h>

#include <string>
#include <vector>

namespace enginehost::engines::onnxruntime {

// `input_types` are ONNX's element types. Inputs are called a, b, c, ..., and the result is y. `shape` is
// that of every input, empty: any; OpenVINO takes an input of any shape for a scalar.
std::string one_node_model(const std::string& operation, const std::vector<int>& input_types,
                           const engine_entry* attributes, size_t attribute_count,
                           const std::vector<uint64_t>& shape = {});

}  // namespace enginehost::engines::onnxruntime
