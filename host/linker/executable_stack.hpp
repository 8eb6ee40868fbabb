// Libraries that need an executable stack.
#pragma once
#include "host/linker/linker.hpp"

namespace enginehost::linker {

// Adds EH-L20 to the closure for such a library. It is a warning where the loader makes the stack executable
// (glibc before 2.41) or does not check (musl). It is refused where the loader refuses it (glibc 2.41 and
// newer, NEWS of 2.41), and a doubt where the stack may be executable from the start.
void judge_executable_stack(const Machine& machine, const Request& request, Reader& reader, Closure& closure);

}  // namespace enginehost::linker
