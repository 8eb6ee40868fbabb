// The frame around a bundle's entries: the single kind of tar header that they have, and the end of the zstd
// frame, which is found without decoding it.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace enginehost::offline {

constexpr std::size_t tar_block = 512;

// POSIX ustar, a plain file: mode 0644, owner 0, time 0. Sizes of 8 GiB and more are written in base 256, as
// GNU tar and libarchive do. `name` has at most 100 bytes.
std::array<char, tar_block> tar_header(std::string_view name, std::uint64_t size);

// Reads name and size. Returns false unless the block is, byte for byte, what tar_header() would write, so
// that no other reader can interpret it differently.
bool read_tar_header(const std::array<char, tar_block>& block, std::string& name, std::uint64_t& size);

inline std::uint64_t padding_of(std::uint64_t size) { return (tar_block - size % tar_block) % tar_block; }

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
