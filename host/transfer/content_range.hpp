// The Content-Range header: the part of a file that an answer holds (RFC 9110, section 14.4).
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace enginehost::transfer {

struct ContentRange {
  std::optional<std::uint64_t> start;  // of "bytes 100-199/200": 100; nothing for "bytes */200"
  std::optional<std::uint64_t> total;  // 200; nothing for "bytes 0-9/*"
};

// Returns the parts that can be read.
ContentRange read_content_range(std::string_view value);

// Returns the decimal digits at the start of the text; nothing if there are none or they do not fit.
std::optional<std::uint64_t> leading_number(std::string_view text);

}  // namespace enginehost::transfer
