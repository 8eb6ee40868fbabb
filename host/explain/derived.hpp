// Evidence that follows from other evidence, for the templates of the catalog.
#pragma once
#include "base/diagnosis.hpp"

namespace enginehost::explain {

// Adds "demangled" for each "symbol" that is a C++ name, as written in the source; for EH-L19
// "optional_static_tls", the bytes that the loader should reserve; for EH-G02 the "folder" of "path".
// Idempotent.
void add_derived(Diagnosis& diagnosis);

}  // namespace enginehost::explain
