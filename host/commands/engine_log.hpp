// Log messages of an engine's plugin, on standard error.
#pragma once
#include <string>

#include "host/attempt/attempt.hpp"
#include "host/load/in_process/listeners.hpp"
#include "host/transfer/progress_bar.hpp"

namespace enginehost::commands {

// Prints the messages from the level in the settings ("log") on; with `quiet` errors only. Clears the bar
// before each message. The bar must outlive the engine.
void log_to_standard_error(open::AttemptOptions& attempt, transfer::ProgressBar& bar, bool quiet);

// Returns one line: "warning: cuda (in the probe): no driver".
std::string describe(const load::LogMessage& message);

}  // namespace enginehost::commands
