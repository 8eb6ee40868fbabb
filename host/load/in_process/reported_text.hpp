// Copies texts from a plugin: untrusted pointers, which may be NULL or lead to bytes without a terminator.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace enginehost::load {

inline constexpr std::size_t longest_field = std::size_t{16} << 10;    // a name, a version, a key, a value
inline constexpr std::size_t longest_message = std::size_t{64} << 10;  // what a person reads

// Returns the length of the text, at most `most`; no byte beyond that is read. 0 for NULL.
inline std::size_t reported_length(const char* text, std::size_t most = longest_field) {
  std::size_t length = 0;
  while (text != nullptr && length < most && text[length] != '\0') ++length;
  return length;
}

// Names of a model's inputs and outputs are looked up whole. They are cut only in messages.

// Returns a copy. A text of `most` bytes or more is cut and ends in " [cut]".
inline std::string reported_text(std::string_view text, std::size_t most = longest_field) {
  const std::size_t length = text.size() < most ? text.size() : most;
  std::string copy(text.substr(0, length));
  if (length < most) return copy;
  // Do not cut within a UTF-8 character: its later bytes are 10xxxxxx.
  const auto follows = [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; };
  std::size_t end = length;
  while (end > 0 && length - end < 4 && follows(copy[end - 1])) --end;
  if (end > 0 && static_cast<unsigned char>(copy[end - 1]) >= 0xc0) copy.resize(end - 1);
  return copy + " [cut]";
}

// Same for a C string; NULL is empty, and at most `most` bytes are read.
inline std::string reported_text(const char* text, std::size_t most = longest_field) {
  return reported_text(std::string_view(text != nullptr ? text : "", reported_length(text, most)), most);
}

}  // namespace enginehost::load
