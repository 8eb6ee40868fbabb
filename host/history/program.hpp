// Which program this is and since when the machine runs: whose crash a left-over sentinel tells of.
#pragma once
#include <string>

namespace enginehost::history {

// Path and build id of the running program (on Windows time stamp and size of its image), or its path, size
// and time when it was linked without one: another release of an application is another program. Read once;
// any thread.
const std::string& program_id();

// The part of it that tells releases apart, wherever they lie; empty where the program was linked without
// one. Takes no look at a file; any thread.
std::string program_build_id();

// base/process.hpp's boot_id; empty where there is none. Read once; any thread.
const std::string& boot_id();

}  // namespace enginehost::history
