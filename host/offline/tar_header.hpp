// The single kind of tar header that a bundle's entries have.
#pragma once
#include <array>
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

}  // namespace enginehost::offline
