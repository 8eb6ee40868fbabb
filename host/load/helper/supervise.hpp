// Ends the processes that a build leaves behind.
#pragma once

namespace enginehost::helper {

// Call first, before threads are started and anything of a build is known. On Linux the call returns in a new
// child of the process. The process itself adopts everything that the child starts, also daemons in a session
// of their own, waits for the child, ends what is left, and ends as the child did. It
//
//   - passes SIGABRT on to the child, also when the child has left the process group;
//   - ends the child and everything that it started at SIGTERM, and when its own parent dies;
//   - waits for a child that no signal ends, so that its parent notices.
//
// On other systems, and if no process can be started, the call does nothing.
void supervise();

}  // namespace enginehost::helper
