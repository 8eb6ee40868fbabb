#include "base/printable.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>

#include "base/text.hpp"

namespace enginehost {
namespace {

std::uint32_t byte_of(char c) { return static_cast<unsigned char>(c); }

constexpr bool is_windows_shell = std::filesystem::path::preferred_separator == '\\';

// Letters beyond ASCII are not plain, because some of them are blanks.
bool is_plain_in_a_shell(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view(is_windows_shell ? "-_./:+\\" : "-_./:,+@%=").find(c) != std::string_view::npos;
}

// Quotation marks are common to cmd and PowerShell. Within them, PowerShell expands `$` and the backtick, and
// cmd expands `%NAME%`. No spelling is right for both, so these stay as they are. For the program, a
// backslash counts only before a quotation mark.
std::string quoted_on_windows(std::string_view text) {
  std::string word = "\"";
  std::size_t backslashes = 0;
  for (const char c : text) {
    if (c == '"') word.append(backslashes + 1, '\\');
    backslashes = c == '\\' ? backslashes + 1 : 0;
    word += c;
  }
  return word.append(backslashes, '\\') + "\"";
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

void add_code_point(std::string& result, std::uint32_t point) {
  char text[16];
  std::snprintf(text, sizeof text, "\\u{%x}", static_cast<unsigned>(point));
  result += text;
}

std::string made_printable(std::string_view text, bool one_line) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const Utf8Character character = first_character(text);
    if (text.starts_with("\r\n")) text.remove_prefix(1);
    const char c = text.front();
    const std::size_t bytes = character.bytes == 0 ? 1 : character.bytes;
    if (c == '\n' || c == '\t' || c == '\f' || separates_lines(character.point))
      result += one_line ? ' ' : c == '\t' ? '\t' : '\n';
    else if (character.bytes == 0)
      result += "\\x" + hex_of(std::string_view(&c, 1));
    else if (is_control(character.point))
      result += "\\x" + hex_of(std::string(1, static_cast<char>(character.point)));
    else if (is_hidden(character.point))
      add_code_point(result, character.point);
    else
      result += text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
  return result;
}

}  // namespace

Utf8Character first_character(std::string_view text) {
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

bool is_unprintable(std::uint32_t point) {
  return is_control(point) || separates_lines(point) || is_hidden(point);
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t bytes = first_character(text).bytes;
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

std::string shell_word(std::string_view text) {
  // zsh replaces a leading "=name" with the path of a program.
  if (!text.empty() && text.front() != '=' && std::all_of(text.begin(), text.end(), is_plain_in_a_shell))
    return std::string(text);
  if (is_windows_shell) return quoted_on_windows(text);
  std::string word = "'";
  for (const char c : text)
    if (c == '\'')
      word += "'\\''";
    else
      word += c;
  return word + "'";
}

}  // namespace enginehost
