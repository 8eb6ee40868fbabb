// Calls that child_process.cpp needs and POSIX does not define; each system has its own. signal_name
// (base/child_process.hpp) is implemented in the same files. Thread safety: any thread.
#pragma once
#include <signal.h>
#include <spawn.h>
#include <sys/types.h>

#include "base/files.hpp"

namespace enginehost::child {

// Opens a pipe; exec closes both ends. Returns false and sets errno on failure.
bool open_pipe(int (&ends)[2]);

// Lets the child inherit only the descriptors below `first` that the actions so far give it.
void inherit_only(int first, posix_spawn_file_actions_t& actions, posix_spawnattr_t& attributes);

// Takes one pending signal of the set, which this thread blocks; does not wait for one.
void take_pending(const sigset_t& signals);

// Returns a descriptor that polls as readable when the child has ended. The wait then ends at once, even if
// grandchildren keep the pipes open. Returns none if the kernel or a sandbox refuses; the next poll then
// notices the end.
FileDescriptor watch_for_end(pid_t child);

}  // namespace enginehost::child
