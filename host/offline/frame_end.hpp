// Finds where a zstd frame ends without decoding it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace enginehost::offline {

// A decoder goes on to the next frame, skips what is made to be skipped, and says nothing: bytes could hide
// behind a bundle. This one knows only lengths (RFC 8878, 3.1.1). What does not begin as a frame has no end.
class FrameEnd {
 public:
  // False as soon as a byte lies behind the end of the first frame.
  bool pass(std::string_view bytes);

 private:
  enum class At { magic, descriptor, header, block, content, checksum, end, no_frame };
  void enter(At at, std::uint64_t length);
  void byte(unsigned char value);
  void arrived();

  At at_ = At::magic;
  std::uint64_t left_ = 4;   // bytes of this place
  std::uint32_t value_ = 0;  // of the last four bytes, the newest in the highest place
  bool checksum_ = false, last_ = false;
};

}  // namespace enginehost::offline
