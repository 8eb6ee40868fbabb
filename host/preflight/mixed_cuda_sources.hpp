// Libraries that must come from one source: the CUDA toolkit's, the parts of cuDNN, the OpenMP runtime.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "host/preflight/preflight.hpp"

namespace enginehost::preflight {

// Returns the names that the closure's libraries need, directly or through others. Other libraries of the
// process (a command has its network libraries loaded) do not affect whether the build loads.
std::set<std::string> names_used(const linker::Closure& closure);

// EH-R16: parts of cuDNN come from two folders. EH-G17: CUDA's libraries do. EH-G18: the process has loaded
// the runtime of another CUDA major version. EH-L35: two OpenMP runtimes would be in one process; one of them
// may be there already. Failure is likely but not certain: these are warnings, and the probe decides. All
// files of a build count as one source, in whatever folders they are.
void judge_mixed_sources(const Spec& spec, const linker::Closure& closure, std::vector<Diagnosis>& warnings);

}  // namespace enginehost::preflight
