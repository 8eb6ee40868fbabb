// Libraries that want to run code on the stack.
#pragma once
#include "host/linker/linker.hpp"

namespace enginehost::linker {

// Adds EH-L20 to the closure: a warning where the loader makes the stack executable for such a library (glibc
// before 2.41) or does not ask (musl); refused where it does not any more (glibc 2.41 and newer, NEWS
// of 2.41); a doubt where the stack may be executable from the start.
void judge_executable_stack(const Machine& machine, const Request& request, Reader& reader, Closure& closure);

}  // namespace enginehost::linker
