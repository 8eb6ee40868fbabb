// Records of what is quarantined, for people.
#pragma once
#include <string>

#include "host/history/history.hpp"

namespace enginehost::commands {

// "build  state: EH-R02 crash: …"
std::string line_of(const history::Record& record);

// Everything known of it: when, at which stage and how it ended, the last words, what would end the record,
// and the one command that does. `why_ended`: why it no longer holds, or empty.
std::string full_text(const history::Record& record, const std::string& why_ended);

}  // namespace enginehost::commands
