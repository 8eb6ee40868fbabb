// Finds where a zstd frame ends without decoding it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace enginehost::offline {

// A zstd decoder continues with the next frame and silently skips skippable ones, so bytes could hide behind
// a bundle. This class only follows the lengths (RFC 8878, 3.1.1). Input that does not begin with a frame has
// no end.
class FrameEnd {
 public:
  // Returns false as soon as a byte follows the end of the first frame.
  bool pass(std::string_view bytes);

 private:
  enum class At { magic, descriptor, header, block, content, checksum, end, no_frame };
  void enter(At at, std::uint64_t length);
  void byte(unsigned char value);
  void arrived();

  At at_ = At::magic;
  std::uint64_t left_ = 4;   // bytes left in this state
  std::uint32_t value_ = 0;  // the last four bytes, the newest in the highest place
  bool checksum_ = false, last_ = false;
};

}  // namespace enginehost::offline
