// Derives a probe's result from the way its process ended.
#pragma once
#include <string>

#include "base/child_process.hpp"
#include "host/load/probe.hpp"

namespace enginehost::load {

// `nonce` is the value that was passed to the child; lines without it are not the probe's own.
ProbeResult judge(const ChildOutcome& outcome, const std::string& nonce, const ProbeRequest& request);

// Gives an EH-E01 with a CUDA error number (origin "cuda") the code of its own class (EH-G..). Keeps all
// evidence.
void refine_report(Diagnosis& diagnosis);

}  // namespace enginehost::load
