// The check by the rules of this system's own loader.
#pragma once
#include "host/preflight/preflight.hpp"

namespace enginehost::preflight {

// What this system's loader takes; files of other kinds are looked at as another system's (foreign.hpp).
bool is_native(binary::Kind kind);
// check() of preflight.hpp, by this system's rules.
Report check_native(const Spec& spec);

// The rules of Linux and its kin, over the machine that the Spec describes.
Report check_elf(const Spec& spec);

}  // namespace enginehost::preflight
