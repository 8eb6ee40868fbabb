// A crash inside an application, learned of from the sentinel or the word that it left.
#pragma once
#include "host/history/sentinel.hpp"
#include "host/history/store.hpp"
#include "host/open/open_context.hpp"

namespace enginehost::open {

// As a failure of the build: EH-R02 with "stage", "program", "process" and "time".
history::Failure failure_of(const history::Crash& crash);

// Remembers it as that failure.
void note_crash(OpenContext& context, const history::Crash& crash);

}  // namespace enginehost::open
