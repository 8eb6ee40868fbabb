// What child_process.cpp asks of a POSIX system and POSIX does not name: each system has its own calls for
// it. signal_name (base/child_process.hpp) lies with them. Any thread.
#pragma once
#include <signal.h>
#include <spawn.h>
#include <sys/types.h>

#include "base/files.hpp"

namespace enginehost::child {

// Both ends are closed by exec. False with errno set when there is no pipe to be had.
bool open_pipe(int (&ends)[2]);

// The child starts with the descriptors below `first` that the actions so far give it, and no other.
void inherit_only(int first, posix_spawn_file_actions_t& actions, posix_spawnattr_t& attributes);

// Takes one signal of the set, which this thread blocks, if it is pending; does not wait for one.
void take_pending(const sigset_t& signals);

// A descriptor that polls as readable once the child has ended: its end wakes the wait at once, also when
// grandchildren keep the pipes open. Empty where the kernel or a sandbox does not give one; then the end is
// noticed at the next turn.
FileDescriptor watch_for_end(pid_t child);

}  // namespace enginehost::child
