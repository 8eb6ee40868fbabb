// What a missing or false NVIDIA driver library means on this machine.
#pragma once
#include <vector>

#include "host/preflight/preflight.hpp"

namespace enginehost::preflight {

// Takes libcuda.so.1 out of "library missing" diagnoses and says instead, as EH-G01, why it is missing here;
// adds EH-G02 when the closure takes a toolkit's link stub for the driver, EH-G15 when WSL's is not looked
// at.
void judge_driver(const Spec& spec, const linker::Closure& closure, std::vector<Diagnosis>& diagnoses);

}  // namespace enginehost::preflight
