// The part of prepare_process() that differs between POSIX systems. Only for posix/this_process.cpp.
#pragma once

namespace enginehost::helper {

// From now on the process is killed when its parent dies.
void end_with_parent();

}  // namespace enginehost::helper
