#include "host/offline/framing.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace enginehost::offline {
namespace {

// Offsets of the fields: POSIX.1-2017, pax, "ustar Interchange Format".
constexpr std::size_t size_at = 124, checksum_at = 148, name_length = 100;
constexpr std::uint64_t largest_octal = 077777777777;
// The magic number of a zstd frame (RFC 8878, 3.1.1).
constexpr std::uint32_t magic = 0xFD2FB528;

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

void FrameEnd::enter(At at, std::uint64_t length) {
  at_ = at;
  left_ = length;
  if (left_ == 0) arrived();
}

// Handles the bytes of a state once all of them arrived.
void FrameEnd::arrived() {
  switch (at_) {
    case At::magic:
      return value_ == magic ? enter(At::descriptor, 1) : enter(At::no_frame, UINT64_MAX);
    case At::descriptor: {
      const std::uint32_t descriptor = value_ >> 24;
      const bool single_segment = (descriptor & 0x20) != 0;
      checksum_ = (descriptor & 0x04) != 0;
      static constexpr std::uint64_t dictionary[] = {0, 1, 2, 4}, content_size[] = {0, 2, 4, 8};
      const std::uint64_t sized = descriptor >> 6 == 0 && single_segment ? 1 : content_size[descriptor >> 6];
      return enter(At::header, (single_segment ? 0u : 1u) + dictionary[descriptor & 3] + sized);
    }
    case At::header:
      return enter(At::block, 3);
    case At::block: {
      const std::uint32_t header = value_ >> 8, type = header >> 1 & 3;
      last_ = (header & 1) != 0;
      return enter(At::content, type == 1 ? 1 : header >> 3);
    }
    case At::content:
      if (!last_) return enter(At::block, 3);
      return enter(At::checksum, checksum_ ? 4 : 0);
    case At::checksum:
      at_ = At::end;
      return;
    case At::end:
    case At::no_frame:
      return;
  }
}

void FrameEnd::byte(unsigned char value) {
  value_ = value_ >> 8 | static_cast<std::uint32_t>(value) << 24;
  if (--left_ == 0) arrived();
}

bool FrameEnd::pass(std::string_view bytes) {
  while (!bytes.empty()) {
    if (at_ == At::end) return false;
    if (at_ == At::no_frame) return true;
    if (at_ == At::content && left_ > 1) {
      const auto skipped = static_cast<std::size_t>(std::min<std::uint64_t>(left_ - 1, bytes.size()));
      left_ -= skipped;
      bytes.remove_prefix(skipped);
      continue;
    }
    byte(static_cast<unsigned char>(bytes.front()));
    bytes.remove_prefix(1);
  }
  return true;
}

}  // namespace enginehost::offline
