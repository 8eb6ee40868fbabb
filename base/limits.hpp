// The limits of the system that explain why a process got no more of something. Thread safety: any thread.
#pragma once
#include "base/diagnosis.hpp"

namespace enginehost {

// A resource that a process can run short of.
enum class Scarce { threads, memory, files };

// Adds the limits of that kind which hold for this process: "process_limit", "group_limit" (of its control
// group, with "group_refusals" if the group has refused one), "address_space_limit", "data_limit",
// "memory_limit" (of a machine that promises no more than it has), "file_limit". Adds nothing for a limit
// that is not set, and on Windows. A container's limit of memory is none of these: it ends a process and
// never refuses memory.
void add_limits(Diagnosis& diagnosis, Scarce what);

}  // namespace enginehost
