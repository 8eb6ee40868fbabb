// GLIBC_TUNABLES, the C library's settings at program start.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace enginehost::linker {

// Returns the number that the text assigns to this name; the last assignment counts. Absent = not set, or no
// number.
std::optional<std::uint64_t> tunable(std::string_view tunables, std::string_view name);

}  // namespace enginehost::linker
