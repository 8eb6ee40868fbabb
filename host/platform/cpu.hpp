// The processor features that a program may use, computed from the answers of CPUID and XGETBV.
#pragma once
#include "base/cpuid.hpp"
#include "host/platform/platform.hpp"

namespace enginehost::platform {

// Returns feature names and the x86-64-v level. Features whose registers the system does not save are left
// out even if CPUID lists them, because using them raises SIGILL.
Cpu x86_cpu(const Cpuid& answers);

}  // namespace enginehost::platform
