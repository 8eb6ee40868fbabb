// Whether the libraries of a build find room in this process.
#pragma once
#include "host/preflight/preflight.hpp"

namespace enginehost::preflight {

// EH-L23 among the diagnoses when the segments of the closure, with what the process has mapped already, are
// more than the limit on its address space: the loader will then fail for certain. Among the warnings when
// they are more than the memory of the machine or container: they are mapped, not filled, so that it may
// work. Asks the running process.
void judge_memory(const Spec& spec, const linker::Closure& closure, Report& report);

}  // namespace enginehost::preflight
