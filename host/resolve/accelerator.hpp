// Explains why a CPU build is used on a machine with an accelerator.
#pragma once
#include <optional>

#include "base/diagnosis.hpp"
#include "host/resolve/plan.hpp"

namespace enginehost::resolve {

// Returns EH-S24 if `taken` is a CPU build that nobody requested, and the machine has an accelerator of any
// maker. Evidence: "accelerator", "build", "reason". If an untried build of the engine is for the
// accelerator, also "nearest", and "first_code", or "named" (engine@version) if the build is a prerelease
// that the request would have to name. If only builds with an execution provider of ONNX Runtime compute on
// it, "to_be_named" is the flavor of one. A build is untried because it did not fit, because less is known
// about it, or because it is such a prerelease. An engine whose builds are all for processors has nothing to
// miss.
//
// The same applies if the request lists a device first ("device": the "cuda" of "cuda,cpu"), whatever the
// machine has. Returns nothing for a build that was tried and failed, because that failure is reported
// already. Pure; any thread.
std::optional<Diagnosis> idle_accelerator(const Plan& plan, const platform::Platform& machine,
                                          const manifest::Build& taken);

}  // namespace enginehost::resolve
