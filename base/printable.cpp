#include "base/printable.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace enginehost {
namespace {

std::uint32_t byte_of(char c) { return static_cast<unsigned char>(c); }

// The first character of the text and its length in bytes; 0 bytes if the text does not begin with one.
struct Character {
  std::size_t bytes = 0;
  std::uint32_t point = 0;
};

Character first_of(std::string_view text) {
  const std::uint32_t lead = byte_of(text.front());
  if (lead < 0x80) return {1, lead};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {};
  std::uint32_t point = lead & (0x7Fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    const std::uint32_t next = byte_of(text[i]);
    if ((next & 0xC0) != 0x80) return {};
    point = point << 6 | (next & 0x3F);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (point < least[bytes] || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) return {};
  return {bytes, point};
}

// Characters that are not seen, or that change the order of those around them, so that a text reads as
// another one: Unicode's Bidi_Control and Default_Ignorable_Code_Point, without variation selectors, which
// emoji need.
bool is_hidden(std::uint32_t point) {
  struct Range {
    std::uint32_t first, last;
  };
  constexpr Range hidden[] = {{0xAD, 0xAD},     {0x34F, 0x34F},     {0x61C, 0x61C},     {0x115F, 0x1160},
                              {0x17B4, 0x17B5}, {0x180B, 0x180F},   {0x200B, 0x200F},   {0x202A, 0x202E},
                              {0x2060, 0x206F}, {0x3164, 0x3164},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},
                              {0xFFF0, 0xFFFB}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}};
  return point >= 0xAD && std::ranges::any_of(hidden, [&](const Range& range) {
           return point >= range.first && point <= range.last;
         });
}

bool is_control(std::uint32_t point) { return point < 0x20 || (point >= 0x7F && point <= 0x9F); }
bool separates_lines(std::uint32_t point) { return point == 0x2028 || point == 0x2029; }

void add_escaped(std::string& result, std::uint32_t byte) {
  constexpr char digits[] = "0123456789abcdef";
  result += "\\x";
  result += digits[byte >> 4 & 15];
  result += digits[byte & 15];
}

void add_code_point(std::string& result, std::uint32_t point) {
  char text[16];
  std::snprintf(text, sizeof text, "\\u{%x}", static_cast<unsigned>(point));
  result += text;
}

std::string made_printable(std::string_view text, bool one_line) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const Character character = first_of(text);
    if (text.starts_with("\r\n")) text.remove_prefix(1);
    const char c = text.front();
    const std::size_t bytes = character.bytes == 0 ? 1 : character.bytes;
    if (c == '\n' || c == '\t' || c == '\f' || separates_lines(character.point))
      result += one_line ? ' ' : c == '\t' ? '\t' : '\n';
    else if (character.bytes == 0)
      add_escaped(result, byte_of(c));
    else if (is_control(character.point))
      add_escaped(result, character.point);
    else if (is_hidden(character.point))
      add_code_point(result, character.point);
    else
      result += text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
  return result;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t bytes = first_of(text).bytes;
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

std::string printable(std::string_view text) {
  // The byte order mark of a file, which is no character of its text.
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return made_printable(text, false);
}

std::string printable_line(std::string_view text) { return made_printable(text, true); }

}  // namespace enginehost
