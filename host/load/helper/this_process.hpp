// Operations of the probe on its own process, and its watch over it. Each system implements them.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/diagnosis.hpp"

namespace enginehost::helper {

// Call once, before any untrusted code runs. Makes the process end with its parent, write no core file, and
// show no window that waits for a person.
void prepare_process();

// Ends the process without running more of its own code or of what it loaded.
[[noreturn]] void leave_at_once(int status);

// Ends the process after that time if it still runs. `descriptor` and `nonce` as in report_crashes. Either
// writes {"nonce","overdue":true} there first or ends by SIGALRM, depending on the system.
void end_within(unsigned seconds, int descriptor, const char* nonce);

// Moves descriptor 3 to another number; -1 when it is no pipe or socket.
int take_private_channel();

// Call first, before threads are started and anything of a build is known. On Linux the call returns in a new
// grandchild of the process, in a process group of its own. The process and its child are two watchers. The
// inner one adopts everything that the grandchild starts, also daemons in a session of their own, waits for
// it, ends what is left, and ends as the grandchild did. The outer one does the same for what an inner one
// leaves that was stopped or killed. Each
//
//   - passes SIGABRT on to the process that it watches, also when that one is in another process group;
//   - ends that process and everything that it started at SIGTERM, and when its own parent dies;
//   - waits for a process that no signal ends, so that its parent notices.
//
// On other systems, and if no process can be started, the call does nothing.
void supervise();

// Limits that the probe sets for itself, so that a build that takes without end meets them before the machine
// does. They only lower what the process may use, and hold in its children too.

struct MemoryUse {
  std::uint64_t bytes = 0;        // taken since the limit was set
  std::uint64_t limit = 0;        // 0: no limit was set
  std::uint64_t space = 0;        // address space in use
  std::uint64_t space_limit = 0;  // of the caller (RLIMIT_AS); 0: none
};

// Call once, before any code of a build runs. `memory_bytes`: what the build may take; 0: no limit. On Linux
// it is RLIMIT_DATA, which counts what a process may write to and nothing that is only reserved: drivers of
// GPUs reserve far more address space than the machine has memory. RLIMIT_AS would count that, and
// RLIMIT_NPROC the processes of the whole user.
void set_limits(std::uint64_t memory_bytes);

// Returns zeros on systems without such a limit. Allowed in a signal handler.
MemoryUse memory_use();

// Installs handlers for SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT and SIGTRAP on a stack of their own. Each
// writes one JSON line to `descriptor` and lets the signal end the process:
// {"nonce","crash":{"signal","address","in_library","instruction","stack_overflow","exception","what"}}
// `nonce` must live as long as the process. Call once, on the main thread.
void report_crashes(int descriptor, const char* nonce);

// State that all code of a process shares, compared before and after a build's constructors ran.

struct ProcessState {
  std::array<const void*, 65> handlers{};  // by signal number
  // Each with the words for it. An empty text is unknown, as when no descriptor was left to read it.
  using Texts = std::vector<std::pair<const char*, std::string>>;
  Texts shared;
  Texts numbers;  // of threads and descriptors, which a living engine may rightly keep
};

// Reads the current state. Changes nothing.
ProcessState look_at_process();

// File names of NVIDIA's driver and its management library on this system.
extern const char* const cuda_driver_library;
extern const char* const nvml_library;

// Returns where drivers installed the library for management before they were DCH packages (NVIDIA, NVML API
// Reference Guide: "on Windows"); "" on other systems.
std::string nvml_of_older_drivers();

}  // namespace enginehost::helper
