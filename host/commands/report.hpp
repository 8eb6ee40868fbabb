// The reports of engine-info: everything about the machine, and the result of a request.
//
// Thread safety: one thread at a time, as for OpenContext.
#pragma once
#include <optional>
#include <string>

#include "host/open/open.hpp"

namespace enginehost::commands {

// Returns every fact about the machine with its source, the known engines, the installed and the quarantined
// builds, and every setting.
std::string machine_report(open::OpenContext& context);
// Returns the same as a document. `broken`: why the configuration was not used.
Json machine_document(open::OpenContext& context, const std::optional<Diagnosis>& broken = {});

// Returns the result of a request. `explain`: every check of every candidate. `verbose`: every library, and
// whole paths and ids. `recorded`: the file of the recorded machine that was decided for, or empty.
std::string outcome_report(open::OpenContext& context, const open::Outcome& outcome, bool explain,
                           bool verbose, const std::string& recorded);

// Returns the better builds that were not taken, one line each, and the requested flavor if another one was
// taken. `explains`: the flags or the command that show the reason.
std::string not_taken(const resolve::Plan& plan, const std::string& flavor, const std::string& explains);

}  // namespace enginehost::commands
