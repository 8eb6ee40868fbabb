// The parts of recognizing installations that depend on the system.
#pragma once
#include <filesystem>
#include <string_view>

namespace enginehost::installations {

// Says why installations are not recognized on this system; empty on Linux, where they are.
std::string_view why_none_is_recognized();

// Returns the running program as a file that can be read even if it was replaced or removed.
std::filesystem::path own_program();

}  // namespace enginehost::installations
