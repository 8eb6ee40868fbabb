// Whether the libraries of a build find room in this process.
#pragma once
#include <cstdint>
#include <optional>

#include "host/preflight/preflight.hpp"

namespace enginehost::preflight {

// The bytes of address space that this process may have (RLIMIT_AS); nothing where there is no such limit.
std::optional<std::uint64_t> address_space_limit();
// The same of what it may have to write into (RLIMIT_DATA).
std::optional<std::uint64_t> data_limit();

// Whether this process is refused, for want of memory, what the loader asks for to load a file whose segments
// are as large: tried and given back. False where that is not known.
bool lacks_memory_for(const std::filesystem::path& file, std::uint64_t bytes);

// EH-L23 among the diagnoses when the segments of the closure, with what the process has mapped already, are
// more than the limit on its address space: the loader will then fail for certain. Among the warnings when
// they are more than the memory of the machine or container: they are mapped, not filled, so that it may
// work. Asks the running process. On
// Windows a warning only, EH-W11, when they are more than can still be committed.
void judge_memory(const Spec& spec, const linker::Closure& closure, Report& report);

}  // namespace enginehost::preflight
