// The bytes of a 64-bit PE file, with the offsets that tests change.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>

namespace enginehost::binary {

class PeBytes {
 public:
  explicit PeBytes(std::string bytes) : bytes_(std::move(bytes)) {}

  const std::string& all() const { return bytes_; }
  std::uint32_t u32(std::size_t at) const { return number(at, 4); }
  void set32(std::size_t at, std::uint32_t value) {
    for (std::size_t i = 0; i < 4; ++i) bytes_.at(at + i) = static_cast<char>(value >> (8 * i));
  }
  // The address of a data directory.
  std::uint32_t directory(std::size_t index) const { return u32(directories() + index * 8); }
  void set_directory(std::size_t index, std::uint32_t address, std::uint32_t size) {
    set32(directories() + index * 8, address);
    set32(directories() + index * 8 + 4, size);
  }
  // The file offset of the byte at this address.
  std::size_t offset_of(std::uint32_t address) const {
    const std::size_t header = u32(60), table = header + 24 + number(header + 20, 2);
    for (std::size_t i = 0; i < number(header + 6, 2); ++i) {
      const std::size_t section = table + i * 40;
      if (address >= u32(section + 12) && address - u32(section + 12) < u32(section + 16))
        return u32(section + 20) + (address - u32(section + 12));
    }
    throw std::out_of_range("no section holds this address");
  }

 private:
  std::uint32_t number(std::size_t at, std::size_t count) const {
    std::uint32_t value = 0;
    for (std::size_t i = count; i-- > 0;) value = (value << 8) | static_cast<std::uint8_t>(bytes_.at(at + i));
    return value;
  }
  std::size_t directories() const { return u32(60) + 24 + 112; }

  std::string bytes_;
};

}  // namespace enginehost::binary
