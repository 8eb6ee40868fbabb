// The system-specific part of program.hpp.
#pragma once
#include <string>

namespace enginehost::history {

// Reads the value that program_id() keeps, at each call.
std::string read_program_id();

}  // namespace enginehost::history
