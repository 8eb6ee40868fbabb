// Opening an engine in a command, whose output and exit status are its own whatever the engine does.
#pragma once
#include "host/open/open.hpp"

namespace enginehost::commands {

// The outcome stays until the process ends, which it does without closing the engine and past the destructors
// and exit handlers of what was loaded (see ended() in program.hpp): a crash there (EH-R13) is told, and is
// not how the command ends. `json`: what the engine prints goes to standard error. Where what was
// loaded calls exit() meanwhile, the command ends with EH-R04 all the same; _exit() it cannot tell of. Once
// in a process.
open::Outcome& open_in_command(open::OpenContext& context, const open::OpenRequest& request, bool json);

}  // namespace enginehost::commands
