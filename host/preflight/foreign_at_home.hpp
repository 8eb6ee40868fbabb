// check_foreign() for the machine's own files: on Windows and on macOS.
#pragma once
#include "host/preflight/foreign.hpp"

namespace enginehost::preflight {

// Copies the parts of `spec` that such a check needs; the caller adds the machine and further judgments.
ForeignSpec foreign_spec_of(const Spec& spec);

// Judges the plugin's header, adds its doubts after the certain findings, and lists the files that the
// verdict depends on. Reads the plugin.
void finish_at_home(const Spec& spec, Report& report);

}  // namespace enginehost::preflight
