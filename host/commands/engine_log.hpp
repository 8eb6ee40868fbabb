// What an engine's plugin logs, on standard error.
#pragma once
#include <string>

#include "host/load/in_process/engine_log.hpp"
#include "host/open/attempt.hpp"

namespace enginehost::commands {

// From the level on that settings say ("log"); errors alone where `quiet`.
void log_to_standard_error(open::AttemptOptions& attempt, bool quiet);

// "warning: cuda (in the probe): no driver": one line, whatever is in it.
std::string describe(const load::LogMessage& message);

}  // namespace enginehost::commands
