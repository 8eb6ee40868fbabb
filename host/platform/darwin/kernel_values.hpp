// What the kernel of macOS tells by name: sysctlbyname(3). Any thread.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace enginehost::platform::kernel {

// "Apple M2" for "machdep.cpu.brand_string"; empty when there is no such name.
std::string text(const char* name);
// Of 32 or 64 bits.
std::optional<std::uint64_t> number(const char* name);

}  // namespace enginehost::platform::kernel
