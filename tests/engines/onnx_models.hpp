// Small ONNX models, written as Protocol Buffers by hand; independent of the plugin's own writer, which they
// help to test.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace enginehost::engines::tests::onnx {

inline std::string varint(uint64_t value) {
  std::string out;
  for (; value > 127; value >>= 7) out += static_cast<char>((value & 127) | 128);
  return out + static_cast<char>(value);
}
inline std::string field(uint64_t number, uint64_t value) { return varint(number << 3) + varint(value); }
inline std::string field(uint64_t number, const std::string& bytes) {
  return varint(number << 3 | 2) + varint(bytes.size()) + bytes;
}

// "" is an unnamed size, "4" a number, anything else a name.
inline std::string tensor_type(uint64_t element, const std::vector<std::string>& sizes) {
  std::string shape;
  for (const std::string& size : sizes) {
    bool number = !size.empty() && size[0] >= '0' && size[0] <= '9';
    shape += field(1, number ? field(1, std::stoull(size)) : size.empty() ? std::string() : field(2, size));
  }
  return field(1, field(1, element) + field(2, shape));
}
inline std::string value(const std::string& name, uint64_t element, const std::vector<std::string>& sizes) {
  return field(1, name) + field(2, tensor_type(element, sizes));
}
inline std::string list(const std::string& name, uint64_t element) {
  return field(1, name) + field(2, field(4, field(1, field(1, field(1, element)))));
}
inline std::string node(const std::string& operation, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs, const std::string& attributes = "") {
  std::string out;
  for (const std::string& name : inputs) out += field(1, name);
  for (const std::string& name : outputs) out += field(2, name);
  return out + field(4, operation) + attributes;
}
inline std::string integer(const std::string& name, uint64_t number) {
  return field(5, field(1, name) + field(3, number) + field(20, uint64_t{2}));
}
inline std::string text(const std::string& name, const std::string& content) {
  return field(5, field(1, name) + field(4, content) + field(20, uint64_t{3}));
}
inline std::string scalar_initializer(const std::string& name, float number) {
  std::string bytes(4, '\0');
  std::memcpy(bytes.data(), &number, 4);
  return field(1, uint64_t{1}) + field(2, uint64_t{1}) + field(8, name) + field(9, bytes);
}

struct Graph {
  std::vector<std::string> nodes, inputs, outputs, initializers;
  std::vector<std::pair<std::string, std::string>> metadata;

  std::string bytes() const {
    std::string graph;
    for (const std::string& one : nodes) graph += field(1, one);
    graph += field(2, "g");
    for (const std::string& one : initializers) graph += field(5, one);
    for (const std::string& one : inputs) graph += field(11, one);
    for (const std::string& one : outputs) graph += field(12, one);
    std::string out = field(1, uint64_t{8}) + field(2, "enginehost-tests") + field(7, graph) +
                      field(8, field(2, uint64_t{13}));
    for (const auto& [key, content] : metadata) out += field(14, field(1, key) + field(2, content));
    return out;
  }
};
constexpr uint64_t float32 = 1, int64 = 7, string = 8;

}  // namespace enginehost::engines::tests::onnx
