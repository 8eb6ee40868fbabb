// The process's environment, read for facts about the process. Only host/settings reads the variables that
// configure EngineHost.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace enginehost {

// The environment of a program that has more rights than its caller (set-user-ID, file capabilities) is the
// caller's. No variable counts there, and children inherit none.

// Returns the variable's text, or nothing if it is not set or does not count. Thread safety: any thread,
// while nobody changes the environment.
std::optional<std::string> environment_variable(const char* name);

// Returns a digest that changes when anything in the environment changes. It differs between processes and is
// not collision-proof against an attacker. Thread safety: any thread, while nobody changes the environment.
std::uint64_t environment_digest();

// Returns the "NAME=value" entries, ended by nullptr; none if they do not count. For POSIX systems. Thread
// safety: any thread, while nobody changes the environment.
char** environment_entries();

// Returns the name and the text of each variable, in the order of the process. Thread safety: any thread,
// while nobody changes the environment.
std::vector<std::pair<std::string, std::string>> environment_variables();

}  // namespace enginehost
