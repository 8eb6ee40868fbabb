#pragma once
#include "tests/gpu/operation_cases.hpp"

namespace enginehost::gpu {

// What must not be computed, and what only looks like it: both engines refuse each of them, or both agree.
void add_refused_cases(std::vector<Case>& cases);

}  // namespace enginehost::gpu
