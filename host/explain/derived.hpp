// Evidence that follows from other evidence, for the sentences of the catalog.
#pragma once
#include "base/diagnosis.hpp"

namespace enginehost::explain {

// "demangled" for each "symbol" that is a C++ name, as it was written in the source; "optional_static_tls"
// for EH-L19 with "static_tls": what the loader would have to be told to quarantined; "folder" of the "path"
// of EH-G02. Idempotent.
void add_derived(Diagnosis& diagnosis);

}  // namespace enginehost::explain
