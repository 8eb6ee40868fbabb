// The lock of a request: only the builds that it names are candidates.
//
// Thread safety: one thread at a time, as for OpenContext.
#pragma once
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "host/context/lock_file.hpp"
#include "host/context/open_context.hpp"
#include "host/manifest/catalog.hpp"
#include "host/resolve/plan.hpp"

namespace enginehost::open {

// Returns the entry of a build as the catalog offers it. The plugin and the stand-ins of a repository in a
// folder are compiled on each machine. Error: EH-S10 if the digest of another component is not known.
Result<LockedBuild> locked_as(const OpenContext& context, const manifest::Build& build);

// Returns the entries of the settings' lock that the request allows; nothing without a lock. A recorded
// machine is locked by a flag only, because the configuration is that of this machine. Errors: those of
// read_lock(). EH-S40: no entry for the engine and the platform. EH-S42: the request excludes the entries.
Result<std::optional<std::vector<LockedBuild>>> find_locked(OpenContext& context,
                                                            const resolve::Request& request);

// Returns the catalog without the engine's other builds. Where a repository lists other bytes now, the
// installed build is taken if it has the locked ones. Errors: EH-S41 ("build", "component", "want", "have");
// EH-S42 if another build is forced.
Result<manifest::Catalog> only_locked(OpenContext& context, const std::vector<LockedBuild>& locked,
                                      const resolve::Request& request);

// Makes the lock a part of the reason if nothing is left to open: EH-S46, not offered; EH-S45, withdrawn or
// blocked.
void explain_locked(const OpenContext& context, const std::vector<LockedBuild>& locked, resolve::Plan& plan);

}  // namespace enginehost::open
