// Reads structures out of an untrusted file.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>

namespace engineplugin {

// A bounds-checked view: reads a T at an offset, or nothing.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> data) : data_(data) {}

  template <class T>
  std::optional<T> at(std::uint64_t offset) const {
    if (offset > data_.size() || data_.size() - offset < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, data_.data() + offset, sizeof(T));
    return value;
  }

  // A NUL-terminated string inside [begin, begin+size).
  std::optional<std::string> text(std::uint64_t begin, std::uint64_t size, std::uint64_t offset) const {
    if (begin > data_.size() || data_.size() - begin < size || offset >= size) return std::nullopt;
    const char* start = reinterpret_cast<const char*>(data_.data() + begin + offset);
    const void* end = std::memchr(start, 0, size - offset);
    if (!end) return std::nullopt;
    return std::string(start, static_cast<const char*>(end));
  }

 private:
  std::span<const std::byte> data_;
};

}  // namespace engineplugin
