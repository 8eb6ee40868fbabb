// The Mac that this process runs on, as a value. Only in programs for macOS.
#pragma once
#include "host/linker/dyld.hpp"

namespace enginehost::linker {

// Returns this process's processor, Rosetta translation, system version, program, DYLD_* variables and loaded
// libraries, as they are now; what cannot be read is left empty. dyld removes DYLD_* from the environment of
// programs for which it ignores them. Thread safety: any thread.
AppleMachine describe_this_mac();

}  // namespace enginehost::linker
