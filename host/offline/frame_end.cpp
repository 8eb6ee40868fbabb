#include "host/offline/frame_end.hpp"

#include <algorithm>

namespace enginehost::offline {
namespace {

constexpr std::uint32_t magic = 0xFD2FB528;

}  // namespace

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
