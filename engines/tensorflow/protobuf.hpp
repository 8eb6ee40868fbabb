// The part of Protocol Buffers' encoding that TensorFlow's messages need (protobuf.dev, "Encoding"): a field
// is a number and a kind, then a number in groups of 7 bits, 4 or 8 bytes, or a length and bytes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engines/tensorflow/failure.hpp"

namespace enginehost::engines::tensorflow {

struct Field {
  uint32_t number = 0;
  uint64_t value = 0;      // of a number; 0 for bytes
  std::string_view bytes;  // of text and messages, inside the message that is read; empty for numbers
};

// Reads the fields of one message in order, without copies. The input is untrusted: a field that would reach
// beyond the message ends the reading, and damaged() returns true.
class Message {
 public:
  explicit Message(std::string_view bytes) : rest_(bytes) {}

  // Returns the next field, or nothing at the end and at damage.
  std::optional<Field> next();
  bool damaged() const { return damaged_; }

 private:
  bool number(uint64_t& out);
  bool take(size_t length, std::string_view& out);

  std::string_view rest_;
  bool damaged_ = false;
};

// Calls `use` with every field. Throws a Failure (ENGINE_CORRUPT) when the message is damaged.
template <class Use>
void each_field(std::string_view message, Use&& use) {
  Message fields(message);
  while (std::optional<Field> field = fields.next()) use(*field);
  if (fields.damaged())
    throw Failure{ENGINE_CORRUPT,
                  "TensorFlow's description of the model or the run ends in the middle or is damaged."};
}

// Returns the last field of that number, which counts for fields that are not repeated, or an empty one.
Field last_field(std::string_view message, uint32_t number);

// Encode fields; a message is the concatenation of its fields.
std::string number_field(uint32_t number, uint64_t value);
std::string bytes_field(uint32_t number, std::string_view bytes);

}  // namespace enginehost::engines::tensorflow
