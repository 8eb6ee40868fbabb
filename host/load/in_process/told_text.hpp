// Texts that a plugin hands over: a stranger's pointers, which may be NULL or lead to bytes without an end.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace enginehost::load {

inline constexpr std::size_t longest_field = std::size_t{16} << 10;    // a name, a version, a key, a value
inline constexpr std::size_t longest_message = std::size_t{64} << 10;  // what a person reads

// Up to its end, or to `most`: no byte behind that is read. 0 for NULL.
inline std::size_t reported_length(const char* text, std::size_t most = longest_field) {
  std::size_t length = 0;
  while (text != nullptr && length < most && text[length] != '\0') ++length;
  return length;
}

// Names of a model's inputs and outputs stay whole where they are looked up, and are told so.

// A copy. A text of `most` bytes and more counts as cut off, which " [cut]" at the end tells.
inline std::string reported_text(std::string_view text, std::size_t most = longest_field) {
  const std::size_t length = text.size() < most ? text.size() : most;
  std::string copy(text.substr(0, length));
  if (length < most) return copy;
  // Not within a character of UTF-8: its later bytes are 10xxxxxx.
  const auto follows = [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; };
  std::size_t end = length;
  while (end > 0 && length - end < 4 && follows(copy[end - 1])) --end;
  if (end > 0 && static_cast<unsigned char>(copy[end - 1]) >= 0xc0) copy.resize(end - 1);
  return copy + " [cut]";
}

// The same; NULL is empty, and no more than `most` bytes are read.
inline std::string reported_text(const char* text, std::size_t most = longest_field) {
  return reported_text(std::string_view(text != nullptr ? text : "", reported_length(text, most)), most);
}

}  // namespace enginehost::load
