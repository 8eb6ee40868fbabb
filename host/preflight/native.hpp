// The static check by the rules of this system's own loader, and for a recorded machine.
#pragma once
#include "host/preflight/foreign.hpp"
#include "host/preflight/preflight.hpp"

namespace enginehost::preflight {

// The static check by the rules of this system's own loader.

// True for files that this system's loader accepts; others are checked as another system's (foreign.hpp).
bool is_native(binary::Kind kind);
// check() of preflight.hpp by this system's rules.
Report check_native(const Spec& spec);

// The rules of Linux and similar systems, for the machine in the Spec.
Report check_elf(const Spec& spec);

// check_foreign() for the machine's own files: on Windows and on macOS.

// Copies the parts of `spec` that such a check needs; the caller adds the machine and further judgments.
ForeignSpec foreign_spec_of(const Spec& spec);

// Judges the plugin's header, adds its doubts after the certain findings, and lists the files that the
// verdict depends on. Reads the plugin.
void finish_at_home(const Spec& spec, Report& report);

// Judges a Linux library for a recorded machine, with no more facts than the record contains.

// For spec.platform, which must not be null: system, processor, C library and its version come from the
// record. A record lists no libraries. The file's needs are therefore searched on this machine if it is of
// the record's kind, and not at all otherwise (Verdict::unsure). report.notes states which.
Report check_for_record(Spec spec, const binary::BinaryInfo& info);

}  // namespace enginehost::preflight
