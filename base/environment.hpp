// Reading the process's environment. What configures EngineHost is read by host/settings only; this is for
// facts about the process itself.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace enginehost {

// The variable's text, or nothing when it is not set. Any thread, as long as nobody changes the environment.
std::optional<std::string> environment_variable(const char* name);

// Tells whether anything in the environment has changed since; not the same in other processes, and no
// protection against people. Any thread, as long as nobody changes the environment.
std::uint64_t environment_digest();

}  // namespace enginehost
