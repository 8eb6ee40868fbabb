// Opens an engine in a command, so that the engine changes neither its output nor its exit status.
#pragma once
#include "host/open/open.hpp"

namespace enginehost::commands {

// Opens the engine. The outcome lives until the process ends. The process ends without closing the engine,
// and without the destructors and exit handlers of loaded libraries (see ended() in program.hpp), because a
// crash there (EH-R13) must not become the command's status. If loaded code calls exit(), the command ends
// with EH-R04; a call of _exit() cannot be detected. `json`: what the engine prints goes to standard error.
// Call it once in a process.
open::Outcome& open_in_command(open::OpenContext& context, const open::OpenRequest& request, bool json,
                               open::DecisionCache decisions = {});

}  // namespace enginehost::commands
