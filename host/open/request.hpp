// Completes a request from the settings, checks it against policy, and plans it.
//
// Thread safety: one thread at a time, as for OpenContext.
#pragma once
#include <optional>

#include "base/diagnosis.hpp"
#include "host/open/open_context.hpp"
#include "host/resolve/plan.hpp"
#include "host/settings/settings.hpp"

namespace enginehost::open {

// Returns the request with flavor, device, force and offline taken from the settings where it leaves them
// open.
resolve::Request completed(resolve::Request request, const settings::Settings& settings);

// Returns EH-P01 if the request asks for something against a key that the policy locks.
std::optional<Diagnosis> refused_by_policy(const resolve::Request& request,
                                           const settings::Settings& settings);

// Returns the builds that fit the request, best first, by the context's machine, catalog, history and
// installed builds. Fails if OpenContext::check_records() does.
Result<resolve::Plan> decide(OpenContext& context, resolve::Request request);

}  // namespace enginehost::open
