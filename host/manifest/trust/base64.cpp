// RFC 4648, section 4, with padding and without line ends: equal bytes always have the same text.
#include <array>
#include <cstdint>

#include "host/manifest/trust/minisign.hpp"

namespace enginehost::manifest {
namespace {

constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::size_t longest_text = 64u << 10;  // of a key or signature file

}  // namespace

std::string base64_text(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = bytes.size() - at < 3 ? bytes.size() - at : 3;
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i)
      group = group << 8 | (i < count ? static_cast<unsigned char>(bytes[at + i]) : 0u);
    for (std::size_t i = 0; i < 4; ++i) text += i <= count ? digits[group >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

std::string bytes_of_base64(std::string_view text) {
  if (text.empty() || text.size() % 4 != 0 || text.size() > longest_text) return {};
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  std::string bytes;
  std::uint32_t group = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool padded = i >= text.size() - padding;
    const std::size_t value = padded ? 0 : digits.find(text[i]);
    if (value == std::string_view::npos) return {};
    group = group << 6 | static_cast<std::uint32_t>(value);
    if (i % 4 != 3) continue;
    for (const unsigned shift : {16u, 8u, 0u}) bytes += static_cast<char>(group >> shift & 255);
    group = 0;
  }
  bytes.resize(bytes.size() - padding);
  // Rejects extra bits in the last digit, because they would give the bytes a second text.
  return base64_text(bytes) == text ? bytes : std::string();
}

}  // namespace enginehost::manifest
