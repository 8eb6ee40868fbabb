// The entries of the process's environment. Thread safety: any thread, while nobody changes the environment.
#pragma once

namespace enginehost {

// Returns the "NAME=value" entries, ended by nullptr. None in a program with more rights than its caller
// (base/environment.hpp).
char** environment_entries();

}  // namespace enginehost
