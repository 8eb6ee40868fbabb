// A partial file's note of the ranges that have arrived. Used while several connections write it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/transfer/download.hpp"

namespace enginehost::acquire {

// The note is in the partial file itself, behind the end of the complete file. It disappears when the file is
// removed or started again, so that no two files must be kept consistent. It is one page at a page boundary.
// The system copies it whole, or, if the process is killed, not at all.
inline constexpr std::size_t received_note_bytes = 4096;
std::uint64_t place_of_received_note(std::uint64_t size);

// Returns a note of received_note_bytes. Ranges that do not fit are left out and are fetched again.
std::string received_note(const std::vector<transfer::Range>& received, std::uint64_t size);

// Returns the ranges, sorted and disjoint, within the size. Returns nothing unless the text is a whole note
// of a file of this size.
std::optional<std::vector<transfer::Range>> read_received_note(std::string_view text, std::uint64_t size);

}  // namespace enginehost::acquire
