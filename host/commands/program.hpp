// What each of the four programs defines.
#pragma once

namespace enginehost::commands {

// The whole program, its status given back. The arguments are UTF-8 and end with a null pointer, as main()
// has them.
int run_program(int argc, char** argv);

}  // namespace enginehost::commands
