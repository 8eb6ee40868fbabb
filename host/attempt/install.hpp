// Installation with entries in the audit log.
//
// Thread safety: one thread at a time, as for OpenContext.
#pragma once
#include "host/acquire/acquire.hpp"
#include "host/consent/consent.hpp"
#include "host/context/open_context.hpp"

namespace enginehost::open {

// Moves aside any file that is where a folder of the cache must be, and warns. Call it before anything is
// written there.
Result<void> repair_places(OpenContext& context);

// Returns the parts of the build that an open would fetch, without asking a server.
Result<acquire::Question> question_offline(const OpenContext& context, const manifest::Build& build);

// Checks what is known before the first byte of a download is fetched and before anybody is asked. Writes
// nothing. Returns the state of the licenses. Errors: EH-P01 if policy forbids the size of a part, every
// source of it, or a license; EH-F16 if the cache cannot be written.
Result<consent::Standing> check_download(const OpenContext& context, const manifest::Build& build,
                                         const acquire::Question& question);

// Calls acquire::acquire() after check_download() and notes its events: "fetch" for received bytes or failed
// sources, "install" for a build that this call installed or repaired. An installed build causes no event.
Result<acquire::Acquired> install_noted(OpenContext& context, const manifest::Build& build,
                                        const acquire::AcquireOptions& options,
                                        const transfer::ProgressCallback& progress);

// Calls acquire::fetch_trees() in the same way, with the event "fetch".
Result<acquire::FetchedTrees> fetch_trees_noted(OpenContext& context, const manifest::Build& build,
                                                cache::Stage& stage, const acquire::AcquireOptions& options,
                                                const transfer::ProgressCallback& progress);

}  // namespace enginehost::open
