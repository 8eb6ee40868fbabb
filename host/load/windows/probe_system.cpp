#include "host/load/probe_system.hpp"

namespace enginehost::load {

// The walk over the files' imports, which open_library.cpp makes, has told which search failed; the loader's
// own account ("loader snaps") is for a debugger and a registry key only.
void ask_loader(const ProbeRequest&, Diagnosis&) {}

// Windows refuses memory instead (EH-W11).
std::optional<std::int64_t> count_oom_kills() { return std::nullopt; }

Ending ending_of(int) { return Ending::crash; }

bool is_reported_signal(int) { return false; }

}  // namespace enginehost::load
