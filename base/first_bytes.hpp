// A switch over words.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace enginehost {

// Returns the first eight bytes of a word as one number, so that a switch can replace up to twenty comparisons.
constexpr std::uint64_t first_bytes(std::string_view word) {
  std::uint64_t bytes = 0;
  if (!std::is_constant_evaluated() && std::endian::native == std::endian::little) {
    std::memcpy(&bytes, word.data(), word.size() < sizeof bytes ? word.size() : sizeof bytes);
    return bytes;
  }
  for (std::size_t i = 0; i < word.size() && i < sizeof bytes; ++i)
    bytes |= static_cast<std::uint64_t>(static_cast<unsigned char>(word[i])) << (8 * i);
  return bytes;
}

}  // namespace enginehost
