// Judges a Linux library for a recorded machine, with no more facts than the record contains.
#pragma once
#include "host/preflight/preflight.hpp"

namespace enginehost::preflight {

// For spec.platform, which must not be null: system, processor, C library and its version come from the
// record. A record lists no libraries. The file's needs are therefore searched on this machine if it is of
// the record's kind, and not at all otherwise (Verdict::unsure). report.notes states which.
Report check_for_record(Spec spec, const binary::BinaryInfo& info);

}  // namespace enginehost::preflight
