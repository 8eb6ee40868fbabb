#include "host/commands/open_flags.hpp"

#include <cstdlib>

#include "host/commands/common.hpp"
#include "host/commands/output.hpp"
#include "host/commands/program.hpp"
#include "host/history/sentinel.hpp"

namespace enginehost::commands {
namespace {

open::Outcome* kept = nullptr;
bool as_document = false, over = false;

// Runs if loaded code called exit(), because a command does so only at its end. The crash marker of that code
// stays, so that the next open finds it.
void ended_by_another() {
  if (over) return;
  over = true;
  Diagnosis diagnosis = diagnose("EH-R04");
  if (const auto standing = history::standing_here())
    diagnosis.with("stage", standing->phase, "this process").with("build", standing->build, "this process");
  leave_at_once(end_with(diagnosis, as_document));
}

}  // namespace

open::Outcome& open_in_command(open::OpenContext& context, const open::OpenRequest& request, bool json,
                               open::DecisionCache decisions) {
  if (json) keep_output_for_documents();
  as_document = json;
  // Exit handlers run in reverse order: those of libraries that are loaded from here on run before this one.
  std::atexit(ended_by_another);
  kept = new open::Outcome(open::open_cached(context, request, decisions));
  return *kept;
}

int ended(int status) {
  over = true;
  if (kept == nullptr) return status;
  // On a file system without locks the lease is a file, which must be removed.
  if (kept->opened) kept->opened->lease = cache::Lease();
  leave_at_once(status);
}

}  // namespace enginehost::commands
