// Identifies this program and the current start of the machine, so that a stale sentinel can be attributed.
#pragma once
#include <string>

namespace enginehost::history {

// Identifies this program and the current start of the machine, so that a stale sentinel can be attributed.

// Returns the path and build id of the running program (on Windows time stamp and size of its image). A
// program without a build id is identified by its path, size and time. Another release of an application is
// another program. Read once. Any thread.
const std::string& program_id();

// Returns the part that distinguishes releases, wherever they are installed; empty if the program was linked
// without one. Reads no file. Any thread.
std::string program_build_id();

// Returns boot_id() of base/process.hpp; empty where there is none. Read once. Any thread.
const std::string& boot_id();

// The system-specific part of program.hpp.

// Reads the value that program_id() keeps, at each call.
std::string read_program_id();

}  // namespace enginehost::history
