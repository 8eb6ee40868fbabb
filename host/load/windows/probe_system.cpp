#include "host/load/probe_outcome.hpp"

namespace enginehost::load {

const bool probe_ends_descendants = false;

// Windows itself gives no more than memory and page file together.
std::uint64_t default_memory_limit() { return 0; }

// open_library.cpp has already found the failed search by walking the files' imports. The loader's own log
// ("loader snaps") needs a debugger and a registry key.
void ask_loader(const ProbeRequest&, Diagnosis&) {}

// Windows refuses memory instead of killing a process (EH-W11).
std::optional<std::int64_t> count_oom_kills() { return std::nullopt; }

Ending ending_of(int) { return Ending::crash; }

bool is_reported_signal(int) { return false; }

}  // namespace enginehost::load
