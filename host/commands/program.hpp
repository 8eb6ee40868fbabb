// How a command opens an engine, so that the engine changes neither its output nor its exit status.
#pragma once
#include <string>

#include "host/commands/common.hpp"
#include "host/load/in_process/listeners.hpp"
#include "host/open/open.hpp"

namespace enginehost::commands {

// Opens the engine, shows the progress, asks for consent, and prints the engine's messages on standard error,
// from the level in the settings ("log") on; with --quiet errors only. With --json, what the engine prints
// goes to standard error, too.
//
// The outcome lives until the process ends. The process ends without closing the engine, and without the
// destructors and exit handlers of loaded libraries (see entry.hpp), because a crash there (EH-R13) must not
// become the command's status. If loaded code calls exit(), the command ends with EH-R04; a call of _exit()
// cannot be detected. Call it once in a process.
open::Outcome& open_in_command(open::OpenContext& context, open::OpenRequest request,
                               const CommonFlags& flags, open::DecisionCache decisions = {});

// Returns one line: "warning: cuda (in the probe): no driver".
std::string describe(const load::LogMessage& message);

}  // namespace enginehost::commands
