#include "host/commands/opening.hpp"

#include "host/commands/output.hpp"
#include "host/commands/program.hpp"

namespace enginehost::commands {
namespace {

open::Outcome* kept = nullptr;

}  // namespace

open::Outcome& open_in_command(open::World& world, const open::OpenRequest& request, bool json) {
  if (json) keep_output_for_documents();
  kept = new open::Outcome(open::open_engine(world, request));
  return *kept;
}

int ended(int status) {
  if (kept == nullptr) return status;
  // Where locks are not kept, a lease is a file, too.
  if (kept->opened) kept->opened->lease = cache::Lease();
  leave_at_once(status);
}

}  // namespace enginehost::commands
