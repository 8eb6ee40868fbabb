// Words of a request that stand in the wrong place: a version as a flavor, a device as a flavor, a flavor as
// a device. Used by decide().
#pragma once
#include <optional>
#include <vector>

#include "host/resolve/order.hpp"

namespace enginehost::resolve {

// Returns EH-S28 if no build of the engine has the requested flavor, on any system. Evidence: "engine",
// "flavor", "demanded_by" (what set it), and what was meant: "meant_version" (the engine with it),
// "meant_flavor" (of that version of CUDA) or "meant_device"; else "nearest", and each "known" flavor of this
// system.
std::optional<Diagnosis> unknown_flavor(const Request& request, const std::vector<Weighed>& weighed);

// Returns true if unknown_flavor() knows what was meant. A setting for all engines may name a flavor that one
// of them lacks; that is no mistake.
bool knows_what_was_meant(const Diagnosis& unknown_flavor);

// Returns EH-S29 if a device of the request is a flavor of the engine, and no build offers such a device.
// Evidence: "engine", "device", "meant_flavor", "device_set_by".
std::optional<Diagnosis> flavor_as_device(const Request& request, const std::vector<Weighed>& weighed);

}  // namespace enginehost::resolve
