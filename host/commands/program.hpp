// The entry point that each of the four programs defines, and the end of the process.
#pragma once

namespace enginehost::commands {

// Runs the program and returns its status. The arguments are UTF-8 and end with a null pointer, as those of
// main().
int run_program(int argc, char** argv);

// Returns the status for main(), or ends the process here if it has loaded the code of an engine.
int ended(int status);

}  // namespace enginehost::commands
