// What the loader said, held against the files: its text names the first missing library only, not who needs
// it, and says "No such file" of files that are there.
#pragma once
#include <string>

#include "base/diagnosis.hpp"
#include "host/preflight/preflight.hpp"

namespace enginehost::load {

// The better diagnosis of a failed load: what the static check (with its symbol pass) finds at the files wins
// over the text; "os_said" and the stage are kept. `spec` as it was for preflight.
Diagnosis recheck(Diagnosis said, const preflight::Spec& spec);

}  // namespace enginehost::load
