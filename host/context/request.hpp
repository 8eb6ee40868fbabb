// Completes a request from the settings, checks it against policy, and plans it.
//
// Thread safety: one thread at a time, as for OpenContext.
#pragma once
#include <optional>
#include <string>

#include "base/diagnosis.hpp"
#include "host/context/open_context.hpp"
#include "host/resolve/plan.hpp"
#include "host/settings/settings.hpp"

namespace enginehost::open {

// The values of the settings, for what a request leaves open.
struct RequestDefaults {
  std::string flavor, flavor_source, device, device_source, update, force;
  bool offline = false;
};
RequestDefaults defaults_of(const settings::Settings& settings);

resolve::Request completed(resolve::Request request, const RequestDefaults& defaults);

// Returns EH-P01 if the request asks for something against a key that the policy locks.
std::optional<Diagnosis> refused_by_policy(const resolve::Request& request,
                                           const settings::Settings& settings);

// Returns the builds that fit the request, best first, by the context's machine, catalog, history and
// installed builds; with a lock only those that it names. Fails if OpenContext::check_records() does, and as
// find_locked() and only_locked() do.
Result<resolve::Plan> decide(OpenContext& context, resolve::Request request);

}  // namespace enginehost::open
