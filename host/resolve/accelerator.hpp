// Why the processor computes on a machine that has more.
#pragma once
#include <optional>

#include "base/diagnosis.hpp"
#include "host/resolve/plan.hpp"

namespace enginehost::resolve {

// EH-S24 ("accelerator", "build", "nearest", "reason", "first_code") when `taken` is a build for the
// processor, nobody asked for one, and the machine has an accelerator for which a build of the engine exists
// that was not tried: it did not fit, less is known of it, or it is a version before its release that would
// have to be named ("named": engine@version, instead of "first_code"). The same when a device was wished for
// first ("device": the "cuda" of "cuda,cpu"), whatever the machine has. Nothing for one that was tried and
// failed: that is told already. Pure, any thread.
std::optional<Diagnosis> idle_accelerator(const Plan& plan, const platform::Platform& machine,
                                          const manifest::Build& taken);

}  // namespace enginehost::resolve
