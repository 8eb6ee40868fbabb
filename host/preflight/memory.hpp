// Checks whether this process has enough memory and address space for a build's libraries.
#pragma once
#include <cstdint>
#include <optional>

#include "host/preflight/preflight.hpp"

namespace enginehost::preflight {

// Returns the limit on this process's address space in bytes (RLIMIT_AS); nothing when there is no limit.
std::optional<std::uint64_t> address_space_limit();
// Same for its writable memory (RLIMIT_DATA).
std::optional<std::uint64_t> data_limit();

// True when this process cannot get the memory that the loader requests for a file with segments of this
// size. It maps and unmaps that much. False where this cannot be determined.
bool lacks_memory_for(const std::filesystem::path& file, std::uint64_t bytes);

// Adds EH-L23 to the diagnoses when the closure's segments and the process's current mappings exceed the
// limit on its address space: the loader will certainly fail. Adds it to the warnings when they exceed the
// memory of the machine or container: they are mapped, not filled, so loading may work. Reads the running
// process. On Windows only a warning, EH-W11, when they exceed the memory that can still be committed.
void judge_memory(const Spec& spec, const linker::Closure& closure, Report& report);

}  // namespace enginehost::preflight
