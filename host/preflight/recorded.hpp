// A Linux library judged for a recorded machine: what the record tells, and no more than that.
#pragma once
#include "host/preflight/preflight.hpp"

namespace enginehost::preflight {

// For spec.platform, which is not null: system, processor, C library and its version are the record's. A
// record holds no libraries, so those that the file needs are looked for on this machine where it is of the
// record's kind, and not at all where it is not (Verdict::unsure); report.notes says which.
Report check_for_record(Spec spec, const binary::BinaryInfo& info);

}  // namespace enginehost::preflight
