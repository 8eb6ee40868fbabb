// The static check by the rules of this system's own loader.
#pragma once
#include "host/preflight/preflight.hpp"

namespace enginehost::preflight {

// True for files that this system's loader accepts; others are checked as another system's (foreign.hpp).
bool is_native(binary::Kind kind);
// check() of preflight.hpp by this system's rules.
Report check_native(const Spec& spec);

// The rules of Linux and similar systems, for the machine in the Spec.
Report check_elf(const Spec& spec);

}  // namespace enginehost::preflight
