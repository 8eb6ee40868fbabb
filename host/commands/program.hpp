// What each of the four programs defines, and how it ends.
#pragma once

namespace enginehost::commands {

// The whole program, its status given back. The arguments are UTF-8 and end with a null pointer, as main()
// has them.
int run_program(int argc, char** argv);

// The last thing that main() does with that status: gives it back, or ends the process here when code of an
// engine is in it.
int ended(int status);

}  // namespace enginehost::commands
