// What a loader or an engine said, held against the files: a loader's text names the first missing library
// only, not who needs it, says "No such file" of files that are there, and has one text for four causes.
#pragma once
#include <string>

#include "base/diagnosis.hpp"
#include "host/preflight/preflight.hpp"

namespace enginehost::load {

// The better diagnosis of a failed load: what the static check (with its symbol pass) finds at the files wins
// over the text; "os_said" and the stage are kept. `spec` as it was for preflight. A text about which the
// files say nothing keeps its class and gets "rechecked", which says so. Reads files, starts nothing; some 10
// ms.
Diagnosis recheck(Diagnosis said, const preflight::Spec& spec);

}  // namespace enginehost::load
