// Builds that a plan passes over although they would be better, each with one short reason.
//
// Pure; any thread.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/diagnosis.hpp"
#include "host/resolve/plan.hpp"

namespace enginehost::resolve {

struct PassedOver {
  const Candidate* candidate = nullptr;  // points into the plan
  Code code = Code::none;                // of the reason; empty: a requirement is unknown
  std::string reason;                    // "needs driver 580.65.06", on one line
};

// Returns an obstacle (Candidate::obstacle) in a few words: "asks: license NVIDIA-CUDA-EULA, 2 others",
// "forbidden by policy: license MIT", "no cache: FOLDER cannot be written".
std::string obstacle_text(const Diagnosis& obstacle);

// Returns the update that waits while `taken` is opened, with the setting that fetches it as its reason.
std::optional<PassedOver> update_of(const Plan& plan, const Candidate& taken);

// Returns the best build for this system that would be preferred to the plan's choice, or the update that
// waits, unless the other serves a better device. A build for hardware that the machine lacks is named only
// if there is no other. Withdrawn and blocked builds, and builds that the request excludes, are not better. A
// build for an NVIDIA GPU is not better on a machine without one that has another GPU, or if it is older than
// the plan's choice. Returns nothing if no build is chosen.
std::optional<PassedOver> better_build(const Plan& plan);

// Returns the build that is nearest to fitting, for a plan without a choice. Its reason names the version of
// a build whose plugin was not compiled. Returns nothing if the engine has no builds.
std::optional<PassedOver> nearest_build(const Plan& plan);

// Returns the update that waits, and each version that is newer than the one of `taken`, newest first, with
// the build that would be preferred and the reason why it is not opened. Other builds that only would have to
// be fetched are left out while an installed one is taken. Builds for hardware that the machine lacks count
// only if the version has no others. Versions that the request excludes, and withdrawn and blocked builds,
// are left out.
std::vector<PassedOver> newer_passed_over(const Plan& plan, const Candidate& taken);

// Returns the reason why the candidate is not tried, or why it is uncertain; both parts are empty if nothing
// is against it.
PassedOver why_passed_over(const Candidate& candidate);

// Returns the GPUs that the build has only PTX for, as "cuda:0 (NVIDIA GeForce RTX 5090, 12.0)": the driver
// compiles it when a kernel is first used there, which may take minutes. GPUs that the request does not use
// do not count. Pure; any thread.
std::vector<std::string> compiled_for(const Candidate& candidate);
// Returns EH-G27 ("build", each "device", "warm": the command) if there are such GPUs. Pure; any thread.
std::optional<Diagnosis> compiled_at_first_use(const Candidate& candidate);

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
// already. For a CUDA build returns EH-S27 ("device"...) if it has no code for a GPU that the request names
// after another. Pure; any thread.
std::optional<Diagnosis> idle_accelerator(const Plan& plan, const platform::Platform& machine,
                                          const manifest::Build& taken);

}  // namespace enginehost::resolve
