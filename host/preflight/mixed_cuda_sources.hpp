// Libraries that must come from one place: the CUDA toolkit's, the parts of cuDNN, the OpenMP runtime.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "host/preflight/preflight.hpp"

namespace enginehost::preflight {

// The names that the closure's libraries need, themselves or through others. What the process holds beside
// them (a command has its network libraries loaded) has no say in whether the build loads.
std::set<std::string> names_used(const linker::Closure& closure);

// EH-R16 where parts of cuDNN come from two folders, EH-G17 where CUDA's libraries do, EH-G18 where the
// process holds the runtime of another CUDA major version, EH-L35 where two OpenMP runtimes would be in one
// process (one of them perhaps there already). Likely to fail and not certain to: warnings, and the probe
// decides. All files of a build are one place, however it sorts them into folders.
void judge_mixed_sources(const Spec& spec, const linker::Closure& closure, std::vector<Diagnosis>& warnings);

}  // namespace enginehost::preflight
