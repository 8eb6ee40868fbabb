// acquire() with what it did in the audit log.
#pragma once
#include "host/acquire/acquire.hpp"
#include "host/open/open_context.hpp"

namespace enginehost::open {

// Moves aside what lies in the place of a folder of the cache, with a warning, before something is made
// there.
Result<void> repair_places(OpenContext& context);

// As acquire::acquire(). Events: "fetch" for bytes that came or sources that failed, "install" for a build
// that this call installed or repaired; nothing for one that was there. EH-P01 when a part is larger than
// policy allows.
Result<acquire::Acquired> install_noted(OpenContext& context, const manifest::Build& build,
                                        const acquire::AcquireOptions& options,
                                        const transfer::ProgressCallback& progress);

}  // namespace enginehost::open
