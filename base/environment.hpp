// Reading the process's environment. What configures EngineHost is read by host/settings only; this is for facts about
// the process itself.
#pragma once
#include <optional>
#include <string>

namespace enginehost {

// The variable's text, or nothing when it is not set. Any thread, as long as nobody changes the environment.
std::optional<std::string> environment_variable(const char* name);

}  // namespace enginehost
