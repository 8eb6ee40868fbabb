// What this system means for recognizing installations.
#pragma once
#include <filesystem>
#include <string_view>

namespace enginehost::installations {

// Why nothing is recognized on this system; empty on Linux, where something is.
std::string_view why_none_is_recognised();

// The running program, as a file that can be read although it was replaced or removed since.
std::filesystem::path own_program();

}  // namespace enginehost::installations
