// What is asked for, with what the settings add to it and what the policy forbids.
#pragma once
#include <optional>

#include "base/diagnosis.hpp"
#include "host/open/open_context.hpp"
#include "host/resolve/plan.hpp"
#include "host/settings/settings.hpp"

namespace enginehost::open {

// Flavor, device, force and offline of the settings, where the request leaves them open.
resolve::Request completed(resolve::Request request, const settings::Settings& settings);

// EH-P01 for what the request itself asks against a key that the policy locks.
std::optional<Diagnosis> refused_by_policy(const resolve::Request& request,
                                           const settings::Settings& settings);

// The builds that fit the request, best first: of the world's machine, catalog and history, with what is
// installed there. Fails where World::check_records() does.
Result<resolve::Plan> decide(OpenContext& context, resolve::Request request);

}  // namespace enginehost::open
