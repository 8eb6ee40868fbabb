// Files with holes.
#pragma once
#include <cstdint>
#include <filesystem>

namespace enginehost::test {

// Makes a part of the file a hole; false where the file system supports none.
bool punch_hole(const std::filesystem::path& file, std::uint64_t from, std::uint64_t size);

}  // namespace enginehost::test
