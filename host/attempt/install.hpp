// Installation with entries in the audit log.
//
// Thread safety: one thread at a time, as for OpenContext.
#pragma once
#include "host/acquire/acquire.hpp"
#include "host/context/open_context.hpp"

namespace enginehost::open {

// Moves aside any file that is where a folder of the cache must be, and warns. Call it before anything is
// written there.
Result<void> repair_places(OpenContext& context);

// Calls acquire::acquire() and notes its events: "fetch" for received bytes or failed sources, "install" for
// a build that this call installed or repaired. An installed build causes no event. EH-P01: a part is larger
// than policy allows.
Result<acquire::Acquired> install_noted(OpenContext& context, const manifest::Build& build,
                                        const acquire::AcquireOptions& options,
                                        const transfer::ProgressCallback& progress);

}  // namespace enginehost::open
