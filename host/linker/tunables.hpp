// GLIBC_TUNABLES, the settings that a program is started with for its C library.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace enginehost::linker {

// The number that the text gives this name; the last mention counts. Absent = not set, or no number.
std::optional<std::uint64_t> tunable(std::string_view tunables, std::string_view name);

}  // namespace enginehost::linker
