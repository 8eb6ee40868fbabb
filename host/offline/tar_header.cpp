#include "host/offline/tar_header.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace enginehost::offline {
namespace {

// Offsets of the fields: POSIX.1-2017, pax, "ustar Interchange Format".
constexpr std::size_t size_at = 124, checksum_at = 148, name_length = 100;
constexpr std::uint64_t largest_octal = 077777777777;

}  // namespace

std::array<char, tar_block> tar_header(std::string_view name, std::uint64_t size) {
  std::array<char, tar_block> block{};
  const auto put = [&](std::size_t at, std::string_view text) {
    std::copy(text.begin(), text.end(), block.begin() + static_cast<std::ptrdiff_t>(at));
  };
  put(0, name.substr(0, name_length));
  put(100, "0000644");
  put(108, "0000000");
  put(116, "0000000");
  if (size <= largest_octal) {
    char octal[12];
    std::snprintf(octal, sizeof octal, "%011llo", static_cast<unsigned long long>(size));
    put(size_at, {octal, 11});
  } else {
    block[size_at] = static_cast<char>(0x80);
    for (int byte = 0; byte < 8; ++byte)
      block[size_at + 11 - static_cast<std::size_t>(byte)] = static_cast<char>(size >> (8 * byte) & 0xff);
  }
  put(136, "00000000000");
  put(156, "0");
  put(257, std::string_view("ustar\0"
                            "00",
                            8));
  put(checksum_at, "        ");
  unsigned sum = 0;
  for (const char byte : block) sum += static_cast<unsigned char>(byte);
  char octal[8];
  std::snprintf(octal, sizeof octal, "%06o", sum);
  put(checksum_at, {octal, 7});
  return block;
}

bool read_tar_header(const std::array<char, tar_block>& block, std::string& name, std::uint64_t& size) {
  name.assign(block.data(), ::strnlen(block.data(), name_length));
  size = 0;
  if (static_cast<unsigned char>(block[size_at]) == 0x80) {
    for (std::size_t at = size_at + 4; at < size_at + 12; ++at)
      size = size << 8 | static_cast<unsigned char>(block[at]);
  } else {
    for (std::size_t at = size_at; at < size_at + 11; ++at) {
      if (block[at] < '0' || block[at] > '7') return false;
      size = size << 3 | static_cast<std::uint64_t>(block[at] - '0');
    }
  }
  return !name.empty() && tar_header(name, size) == block;
}

}  // namespace enginehost::offline
