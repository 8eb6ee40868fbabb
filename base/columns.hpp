// Columns of a terminal.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>

namespace enginehost {

// Returns true for the bytes of a character of UTF-8 behind its first one.
inline bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0u) == 0x80u; }

// Returns the columns that the text takes; continuation bytes of UTF-8 take none.
inline std::size_t width_of(std::string_view text) {
  return text.size() - static_cast<std::size_t>(std::ranges::count_if(text, continues_character));
}

// Returns the text with spaces behind it up to that width.
inline std::string padded(std::string text, std::size_t width) {
  const std::size_t used = width_of(text);
  if (used < width) text.append(width - used, ' ');
  return text;
}

}  // namespace enginehost
