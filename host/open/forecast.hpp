// The result that an open of a plan would have, as far as it is known without asking a server or a person.
//
// Thread safety: one thread at a time, as for OpenContext.
#pragma once
#include "host/context/open_context.hpp"
#include "host/resolve/plan.hpp"

namespace enginehost::open {

// Looks for what would stop an open before the download of each candidate begins, by the same checks as the
// open (check_download() in host/attempt and the licenses): policy, a cache that cannot be written, a license
// that nobody accepted. Ends at the first candidate that nothing stops. Fetches and writes nothing.
//
// Fills in Candidate::obstacle. Makes the candidate that would open the chosen one, and sets Plan::fallback
// if it is not the first. If all are stopped, one that waits only for a license stays chosen, else the first.
// `asks`: the open can ask a person. The first candidate that waits for a license is then the chosen one, as
// for a recorded machine.
void foresee(OpenContext& context, resolve::Plan& plan, bool asks);

}  // namespace enginehost::open
