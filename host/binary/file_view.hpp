// Checked reads of an untrusted file: every read reports whether the bytes exist.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "host/binary/binary.hpp"

namespace enginehost::binary {

// Reads a number in the file's byte order; the caller has checked that the bytes exist.
template <class Number>
Number number_at(const std::uint8_t* from, bool big_endian) {
  Number value;
  std::memcpy(&value, from, sizeof value);
  if (big_endian == (std::endian::native == std::endian::big)) return value;
  auto* bytes = reinterpret_cast<std::uint8_t*>(&value);
  std::reverse(bytes, bytes + sizeof value);
  return value;
}

// Up to 64 bytes of the file, read as numbers in the file's byte order. Positions are constants of the
// reader; a position beyond the bytes that were read gives 0.
class Fields {
 public:
  std::uint8_t u8(std::size_t at) const { return at < count_ ? bytes_[at] : std::uint8_t{0}; }
  std::uint16_t u16(std::size_t at) const { return number<std::uint16_t>(at); }
  std::uint32_t u32(std::size_t at) const { return number<std::uint32_t>(at); }
  std::uint64_t u64(std::size_t at) const { return number<std::uint64_t>(at); }
  // Reads the machine word of the file's class.
  std::uint64_t word(std::size_t at, bool wide) const { return wide ? u64(at) : u32(at); }

 private:
  friend class FileView;
  template <class Number>
  Number number(std::size_t at) const {
    if (at + sizeof(Number) <= count_) return number_at<Number>(bytes_.data() + at, big_endian_);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(Number); ++i)
      value = (value << 8) | u8(at + (big_endian_ ? i : sizeof(Number) - 1 - i));
    return static_cast<Number>(value);
  }
  std::array<std::uint8_t, 64> bytes_;  // only the first count_ are valid
  std::size_t count_ = 0;
  bool big_endian_ = false;
};

// An open file, read by pread in cached blocks: the relevant parts of a library are close together, and
// reading 4 KiB is cheaper than mapping the file. Thread safety: one thread.
class FileView {
 public:
  // Errors: EH-F01, EH-F11, EH-L25, EH-L26 or EH-L33, as described at read_binary (binary.hpp).
  static Result<FileView> open(const std::filesystem::path& file);
  // Opens `name` in the folder with this descriptor; `path` is the file's path in messages. Returns nothing
  // if there is no such file or only a dangling link, at the cost of one system call.
  static std::optional<Result<FileView>> open_in(int folder, const std::string& name, std::string path);

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  std::uint64_t device() const { return device_; }
  std::uint64_t inode() const { return inode_; }

  static constexpr std::size_t longest_part = 4096;

  // Reads all `count` bytes, or returns false. Never reads beyond the end of the file.
  bool read(std::uint64_t offset, void* to, std::size_t count);
  // Reads `count` (at most 64) bytes as numbers.
  bool read_fields(std::uint64_t offset, std::size_t count, bool big_endian, Fields& to);
  // Returns the bytes of a part of at most 4 KiB, valid until the next read; null if the file does not have
  // all of them. Reads them alone, without their block, for a part whose surroundings are not needed.
  const std::uint8_t* part(std::uint64_t offset, std::size_t count);
  // Returns the zero-terminated text at `offset`, if it ends within `limit` bytes and within the file.
  std::optional<std::string> text(std::uint64_t offset, std::uint64_t limit = 4096);
  // Returns EH-F01 if the system failed to read an existing part. Results from this file are invalid then.
  std::optional<Diagnosis> failure() const;
  // Reads a large part at once, without the blocks; nothing if it is outside the file or larger than `limit`.
  std::optional<std::vector<std::uint8_t>> bulk(std::uint64_t offset, std::uint64_t count,
                                                std::uint64_t limit);

 private:
  static constexpr std::size_t block_size = longest_part;
  // A file up to this size is read at once; half of all installed libraries are not larger.
  static constexpr std::size_t small_file = 8192;
  static constexpr std::size_t block_limit = 64;
  struct Block {
    std::uint64_t start = 0;
    std::size_t size = 0;
    std::unique_ptr<std::uint8_t[]> bytes;  // no vector, which would write zeros before the read
    bool holds(std::uint64_t offset, std::size_t count) const {
      return offset >= start && offset - start < size && count <= size - (offset - start);
    }
    const std::uint8_t* at(std::uint64_t offset) const { return bytes.get() + (offset - start); }
  };
  static Result<FileView> take(int descriptor, std::string path);
  // Returns a pointer to these bytes if they are in the block used last or in the first one; else null.
  const std::uint8_t* window(std::uint64_t offset, std::size_t count) const;
  // Returns the block with this byte; null if it cannot be read.
  const Block* block_with(std::uint64_t offset);
  const Block* read_block(std::uint64_t start, std::size_t length);
  bool read_directly(std::uint64_t offset, void* to, std::size_t count);

  FileDescriptor descriptor_;
  std::string path_;
  std::uint64_t size_ = 0;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
  std::vector<Block> blocks_;  // the first one is the file's beginning, or all of a small file
  std::size_t last_ = 0;       // index of the block used last
  std::size_t victim_ = 1;     // index of the block replaced next
  int failed_ = 0;             // errno of a failed read
};

// Returns the result of a reader, or EH-F01 if a read failed, because the result would be wrong or incomplete
// then.
template <class Made>
Result<Made> unless_failed(const FileView& file, Result<Made> made) {
  if (auto failure = file.failure()) return fail(std::move(*failure));
  return made;
}

}  // namespace enginehost::binary
