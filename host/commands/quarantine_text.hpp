// Quarantine records as text.
#pragma once
#include <string>

#include "host/history/history.hpp"

namespace enginehost::commands {

// Returns one line: "build  state: EH-R02 crash: …".
std::string line_of(const history::Record& record);

// Returns everything that is recorded: when, at which stage and how it failed, the last output, what ends the
// record, and the command that does. `why_ended`: why the record no longer holds, or empty.
std::string full_text(const history::Record& record, const std::string& why_ended);

}  // namespace enginehost::commands
