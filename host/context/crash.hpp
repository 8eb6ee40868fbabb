// A crash inside an application, known from the sentinel or the crash marker that the process left.
//
// Thread safety: one thread at a time, as for OpenContext.
#pragma once
#include "host/context/open_context.hpp"
#include "host/history/sentinel.hpp"
#include "host/history/store.hpp"

namespace enginehost::open {

// Returns the crash as a failure of the build: EH-R02 with "stage", "program", "process", "began" and
// "build".
history::Failure failure_of(const history::Crash& crash);

// Records that failure in the history.
void note_crash(OpenContext& context, const history::Crash& crash);

}  // namespace enginehost::open
