// The digests of a file's chunks. They let each chunk be verified alone, whatever source it came from.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace enginehost::transfer {

// The text has the lines "enginehost-chunks 1", "size BYTES" and "chunk BYTES", then the sha256 of each chunk
// in order, one a line. Every line ends with a line feed. The last chunk may be shorter.
struct ChunkList {
  std::uint64_t size = 0;   // of the whole file
  std::uint64_t chunk = 0;  // bytes of each but the last: 64 KiB to 1 GiB
  std::vector<std::string> sha256;

  std::uint64_t begin_of(std::size_t index) const { return index * chunk; }
  std::uint64_t end_of(std::size_t index) const;
  std::string text() const;
};

// Fails with EH-M02 ("document" = name, "member", "problem") unless the text is exactly such a list.
Result<ChunkList> read_chunk_list(std::string_view text, std::string_view name);

}  // namespace enginehost::transfer
