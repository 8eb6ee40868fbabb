#include "engines/tensorflow/protobuf.hpp"

namespace enginehost::engines::tensorflow {
namespace {

enum Kind : uint32_t { kind_number = 0, kind_8_bytes = 1, kind_bytes = 2, kind_4_bytes = 5 };

std::string encoded(uint64_t value) {
  std::string out;
  for (; value > 127; value >>= 7) out += static_cast<char>((value & 127) | 128);
  return out + static_cast<char>(value);
}

}  // namespace

bool Message::number(uint64_t& out) {
  out = 0;
  for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    out |= static_cast<uint64_t>(byte & 127u) << shift;
    if ((byte & 128u) == 0) return true;
  }
  return false;
}

bool Message::take(size_t length, std::string_view& out) {
  if (length > rest_.size()) return false;
  out = rest_.substr(0, length);
  rest_.remove_prefix(length);
  return true;
}

std::optional<Field> Message::next() {
  if (damaged_ || rest_.empty()) return std::nullopt;
  damaged_ = true;  // until the whole field has been read
  uint64_t key = 0, length = 0;
  if (!number(key) || key >> 3 == 0 || key >> 3 > 536870911) return std::nullopt;
  Field out;
  out.number = static_cast<uint32_t>(key >> 3);
  std::string_view fixed;
  switch (key & 7) {
    case kind_number:
      if (!number(out.value)) return std::nullopt;
      break;
    case kind_8_bytes:
    case kind_4_bytes:
      if (!take((key & 7) == kind_8_bytes ? 8 : 4, fixed)) return std::nullopt;
      for (size_t i = fixed.size(); i-- > 0;)
        out.value = out.value << 8 | static_cast<unsigned char>(fixed[i]);
      break;
    case kind_bytes:
      if (!number(length) || !take(static_cast<size_t>(length), out.bytes)) return std::nullopt;
      break;
    default:
      return std::nullopt;
  }
  damaged_ = false;
  return out;
}

Field last_field(std::string_view message, uint32_t number) {
  Field out;
  Message fields(message);
  while (std::optional<Field> field = fields.next()) {
    if (field->number == number) out = *field;
  }
  return out;
}

std::string number_field(uint32_t number, uint64_t value) {
  return encoded(uint64_t{number} << 3) + encoded(value);
}

std::string bytes_field(uint32_t number, std::string_view bytes) {
  return encoded(uint64_t{number} << 3 | kind_bytes) + encoded(bytes.size()) + std::string(bytes);
}

}  // namespace enginehost::engines::tensorflow
