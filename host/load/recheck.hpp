// Checks a loader's or an engine's message against the files. A loader's text names only the first missing
// library and not its user, reports "No such file" for existing files, and uses one text for four causes.
#pragma once
#include <string>

#include "base/diagnosis.hpp"
#include "host/preflight/preflight.hpp"

namespace enginehost::load {

// Returns the better diagnosis of a failed load. A finding of the static check (with its symbol pass) wins
// over the text; "os_said" and the stage are kept. `spec` is the one that preflight had. A text that the
// files do not explain keeps its class and gets "rechecked". Reads files, starts nothing; takes some 10 ms.
Diagnosis recheck(Diagnosis said, const preflight::Spec& spec);

}  // namespace enginehost::load
