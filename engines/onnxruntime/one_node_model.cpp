#include "engines/onnxruntime/one_node_model.hpp"

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace enginehost::engines::onnxruntime {
namespace {

// Protocol Buffers' encoding: a field is its number and kind, then a number in groups of 7 bits, or a length
// and bytes.
std::string varint(uint64_t value) {
  std::string out;
  for (; value > 127; value >>= 7) out += static_cast<char>((value & 127) | 128);
  return out + static_cast<char>(value);
}
std::string number_field(uint64_t number, uint64_t value) { return varint(number << 3) + varint(value); }
std::string bytes_field(uint64_t number, const std::string& bytes) {
  return varint(number << 3 | 2) + varint(bytes.size()) + bytes;
}
std::string float_field(uint64_t number, float value) {
  char bytes[4];
  std::memcpy(bytes, &value, 4);
  return varint(number << 3 | 5) + std::string(bytes, 4);
}

// AttributeProto: name 1, f 2, i 3, s 4, ints 8, type 20
enum AttributeType : uint64_t { type_float = 1, type_int = 2, type_string = 3, type_ints = 7 };

// True for attributes that are lists even with one element; for others a comma marks a list.
bool is_list(const std::string& key) {
  for (const char* list : {"axes", "dilations", "kernel_shape", "output_padding", "output_shape", "pads",
                           "perm", "split", "strides"}) {
    if (key == list) return true;
  }
  return false;
}

bool parse_integers(const std::string& text, std::vector<int64_t>& out) {
  const char* at = text.c_str();
  for (;;) {
    char* end = nullptr;
    errno = 0;
    long long value = std::strtoll(at, &end, 10);
    if (end == at || errno != 0) return false;
    out.push_back(value);
    while (*end == ' ') end++;
    if (*end == '\0') return true;
    if (*end != ',') return false;
    at = end + 1;
  }
}

std::string attribute(const engine_entry& entry) {
  std::string key = entry.key, text = entry.value, out = bytes_field(1, key);
  std::vector<int64_t> integers;
  if (parse_integers(text, integers)) {
    if (integers.size() == 1 && !is_list(key)) {
      return out + number_field(3, static_cast<uint64_t>(integers[0])) + number_field(20, type_int);
    }
    for (int64_t value : integers) out += number_field(8, static_cast<uint64_t>(value));
    return out + number_field(20, type_ints);
  }
  // Parses "0.5": digits around one point, in any locale; strtof would require a comma in some.
  double value = 0, unit = 1;
  size_t at = !text.empty() && text[0] == '-' ? 1 : 0;
  bool point = false, is_number = at < text.size();
  for (size_t i = at; i < text.size() && is_number; i++) {
    if (text[i] == '.' && !point) {
      point = true;
    } else if (text[i] >= '0' && text[i] <= '9') {
      value = value * 10 + (text[i] - '0');
      if (point) unit *= 10;
    } else {
      is_number = false;
    }
  }
  if (is_number && point) {
    value = at == 1 ? -value / unit : value / unit;
    return out + float_field(2, static_cast<float>(value)) + number_field(20, type_float);
  }
  return out + bytes_field(4, text) + number_field(20, type_string);
}

// TypeProto: tensor_type 1 { elem_type 1, shape 2 { dim 1 { dim_value 1 } } }; no shape means any.
std::string tensor_type(int type, const std::vector<uint64_t>& shape) {
  std::string fields = number_field(1, static_cast<uint64_t>(type)), dimensions;
  for (uint64_t extent : shape) dimensions += bytes_field(1, number_field(1, extent));
  if (!shape.empty()) fields += bytes_field(2, dimensions);
  return bytes_field(1, fields);
}
// ValueInfoProto: name 1, type 2
std::string value_info(const std::string& name, int type, const std::vector<uint64_t>& shape = {}) {
  return bytes_field(1, name) + bytes_field(2, tensor_type(type, shape));
}

}  // namespace

std::string one_node_model(const std::string& operation, const std::vector<int>& input_types,
                           const engine_entry* attributes, size_t attribute_count,
                           const std::vector<uint64_t>& shape) {
  // NodeProto: input 1, output 2, op_type 4, attribute 5. GraphProto: node 1, name 2, input 11, output 12.
  std::string node, inputs;
  for (size_t i = 0; i < input_types.size(); i++) {
    std::string name = i < 26 ? std::string(1, static_cast<char>('a' + i)) : "a" + std::to_string(i);
    node += bytes_field(1, name);
    inputs += bytes_field(11, value_info(name, input_types[i], shape));
  }
  node += bytes_field(2, "y") + bytes_field(4, operation);
  for (size_t i = 0; i < attribute_count; i++) node += bytes_field(5, attribute(attributes[i]));
  int result_type = input_types.empty() ? 1 : input_types[0];
  std::string graph =
      bytes_field(1, node) + bytes_field(2, "one") + inputs + bytes_field(12, value_info("y", result_type));
  // ModelProto: ir_version 1, producer_name 2, graph 7, opset_import 8 { version 2 }
  return number_field(1, 7) + bytes_field(2, "enginehost") + bytes_field(7, graph) +
         bytes_field(8, number_field(2, 13));
}

}  // namespace enginehost::engines::onnxruntime
