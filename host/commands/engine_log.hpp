// What an engine's plugin logs, on standard error.
#pragma once
#include <string>

#include "host/load/in_process/engine_log.hpp"
#include "host/open/attempt.hpp"
#include "host/transfer/progress_bar.hpp"

namespace enginehost::commands {

// From the level on that settings say ("log"); errors alone where `quiet`. Each message takes the bar's
// place, which must outlive the engine.
void log_to_standard_error(open::AttemptOptions& attempt, transfer::ProgressBar& bar, bool quiet);

// "warning: cuda (in the probe): no driver": one line, whatever is in it.
std::string describe(const load::LogMessage& message);

}  // namespace enginehost::commands
