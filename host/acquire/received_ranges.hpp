// Which parts of a file have arrived, as it notes them of itself while they come over several connections.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/transfer/download.hpp"

namespace enginehost::acquire {

// The note lies in the partial file, behind the last byte of the file that it will be: it goes when that goes
// or is begun again, and nobody has to keep two files in step. It is one page of memory at a page's border,
// which the system copies whole or, when the process is killed, not at all.
inline constexpr std::size_t received_note_bytes = 4096;
std::uint64_t place_of_received_note(std::uint64_t size);

// Always received_note_bytes long. What does not fit is left out: then it comes again.
std::string received_note(const std::vector<transfer::Range>& received, std::uint64_t size);

// Nothing unless the text is a whole note of a file of this size. In order, within it, and apart.
std::optional<std::vector<transfer::Range>> read_received_note(std::string_view text, std::uint64_t size);

}  // namespace enginehost::acquire
