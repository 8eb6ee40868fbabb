// engine-info's texts: the machine, what was opened, why.
#pragma once
#include <optional>
#include <string>

#include "host/open/open.hpp"

namespace enginehost::commands {

// The machine, the configuration, the engines known, what is installed and what is quarantined.
std::string machine_report(open::OpenContext& context, bool verbose);
Json machine_document(open::OpenContext& context, const std::optional<Diagnosis>& broken = {});

// What a request came to. `explain`: every check of every candidate.
std::string outcome_report(open::OpenContext& context, const open::Outcome& outcome, bool explain,
                           bool verbose, const std::string& recorded);

// The builds that were not taken, a line each, and the flavor that was asked for where another one was taken;
// `explains`: the command that says why.
std::string not_taken(const resolve::Plan& plan, const std::string& flavor, const std::string& explains);

}  // namespace enginehost::commands
