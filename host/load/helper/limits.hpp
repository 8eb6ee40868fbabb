// Limits that the probe sets for itself, so that a build that takes without end meets them before the machine
// does. They only lower what the process may use, and hold in its children too.
#pragma once
#include <cstdint>

namespace enginehost::helper {

struct MemoryUse {
  std::uint64_t bytes = 0;  // taken since the limit was set
  std::uint64_t limit = 0;  // 0: no limit was set
};

// Call once, before any code of a build runs. `memory_bytes`: what the build may take; 0: no limit. On Linux
// it is RLIMIT_DATA, which counts what a process may write to and nothing that is only reserved: drivers of
// GPUs reserve far more address space than the machine has memory. RLIMIT_AS would count that, and
// RLIMIT_NPROC the processes of the whole user.
void set_limits(std::uint64_t memory_bytes);

// Returns zeros on systems without such a limit. Allowed in a signal handler.
MemoryUse memory_use();

}  // namespace enginehost::helper
