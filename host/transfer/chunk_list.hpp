// The digests of a file's pieces: what lets each piece be judged alone, wherever it came from.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace enginehost::transfer {

constexpr std::uint64_t usual_chunk = std::uint64_t{8} << 20;

// The text is "enginehost-chunks 1", "size BYTES", "chunk BYTES", then the sha256 of each chunk, one a line
// in order; every line ends with a line feed. The last chunk may be shorter than the others.
struct ChunkList {
  std::uint64_t size = 0;   // of the whole file
  std::uint64_t chunk = 0;  // bytes of each but the last: 64 KiB to 1 GiB
  std::vector<std::string> sha256;

  std::uint64_t begin_of(std::size_t index) const { return index * chunk; }
  std::uint64_t end_of(std::size_t index) const;
  std::string text() const;
};

// EH-M02 with "document" = name, "member" and "problem" for anything else than exactly such a list.
Result<ChunkList> read_chunk_list(std::string_view text, std::string_view name);

// Reads the file once. EH-N14 with "file" when it cannot be read.
Result<ChunkList> chunk_list_of(const std::filesystem::path& file, std::uint64_t chunk = usual_chunk);

}  // namespace enginehost::transfer
