#pragma once
#include "tests/gpu/operation_cases.hpp"

namespace enginehost::gpu {

// Cases that must not be computed, and cases that only look like them: both engines refuse each of them, or
// both agree.
void add_refused_cases(std::vector<Case>& cases);

}  // namespace enginehost::gpu
