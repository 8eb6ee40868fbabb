// From how a probe ended to what that means.
#pragma once
#include <string>

#include "base/child_process.hpp"
#include "host/load/probe.hpp"

namespace enginehost::load {

// `nonce` is what the child was given: lines without it are not its own.
ProbeResult judge(const ChildOutcome& outcome, const std::string& nonce, const ProbeRequest& request);

// CUDA's error numbers, reported by a plugin with origin "cuda", have classes of their own (EH-G..): changes
// the code of an EH-E01 and keeps all evidence.
void refine_report(Diagnosis& diagnosis);

}  // namespace enginehost::load
