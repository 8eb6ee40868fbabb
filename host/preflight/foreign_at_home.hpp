// The check of check_foreign() where those files are the machine's own: on Windows and on macOS.
#pragma once
#include "host/preflight/foreign.hpp"

namespace enginehost::preflight {

// What of `spec` such a check looks at; the machine and what else to judge are for the caller to add.
ForeignSpec foreign_spec_of(const Spec& spec);

// The plugin's header judged, its doubts behind what is certain, and the files that the verdict rests on.
// Reads the plugin.
void finish_at_home(const Spec& spec, Report& report);

}  // namespace enginehost::preflight
