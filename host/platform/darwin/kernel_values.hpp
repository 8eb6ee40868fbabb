// Reads values of the macOS kernel by name: sysctlbyname(3). Any thread.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace enginehost::platform::kernel {

// Returns "Apple M2" for "machdep.cpu.brand_string"; empty when the kernel has no such name.
std::string text(const char* name);
// Reads a number of 32 or 64 bits.
std::optional<std::uint64_t> number(const char* name);

}  // namespace enginehost::platform::kernel
