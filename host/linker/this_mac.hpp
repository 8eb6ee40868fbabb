// The Mac that this process runs on, as a value. Only in programs of macOS.
#pragma once
#include "host/linker/dyld.hpp"

namespace enginehost::linker {

// This process's processor and whether Rosetta translates it, system version, program, DYLD_* variables and
// loaded libraries, as they are now; what cannot be read is left empty. DYLD_* are those that are left: dyld
// takes them out of the environment of programs for which it ignores them. Any thread.
AppleMachine describe_this_mac();

}  // namespace enginehost::linker
