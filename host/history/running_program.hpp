// The system's side of program.hpp.
#pragma once
#include <string>

namespace enginehost::history {

// What program_id() keeps; reads each time.
std::string read_program_id();

}  // namespace enginehost::history
