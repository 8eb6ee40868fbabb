#include "tools/conformance/printable.hpp"

#include <cstdint>
#include <cstdio>

namespace engineplugin {
namespace {

// The UTF-8 character that the text begins with, and its length in bytes; 0 bytes for an invalid one.
struct Character {
  std::size_t bytes = 0;
  std::uint32_t point = 0;
};

Character first_of(std::string_view text) {
  const std::uint32_t lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {1, lead};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {};
  std::uint32_t point = lead & (0x7Fu >> bytes);
  for (std::size_t i = 1; i < bytes; i++) {
    const std::uint32_t next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0) != 0x80) return {};
    point = point << 6 | (next & 0x3F);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (point < least[bytes] || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) return {};
  return {bytes, point};
}

}  // namespace

std::string printable_line(std::string_view text) {
  std::string line;
  while (!text.empty()) {
    const auto [bytes, point] = first_of(text);
    const bool blank = point == '\n' || point == '\t' || point == '\f' || point == 0x2028 || point == 0x2029;
    if (bytes != 0 && blank) {
      line += ' ';
    } else if (bytes == 0 || point < 0x20 || (point >= 0x7F && point <= 0x9F)) {
      char escaped[16];
      std::snprintf(escaped, sizeof escaped, "\\x%02x",
                    bytes == 0 ? static_cast<unsigned char>(text.front()) : point);
      line += escaped;
    } else {
      line += text.substr(0, bytes);
    }
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return line;
}

}  // namespace engineplugin
