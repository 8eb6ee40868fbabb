// The processor as a program may use it, worked out from what CPUID and XGETBV said.
#pragma once
#include "base/cpuid.hpp"
#include "host/platform/platform.hpp"

namespace enginehost::platform {

// Feature names and x86-64-v level. A feature whose registers the system does not save is left out, whatever
// CPUID says: using it would be SIGILL.
Cpu x86_cpu(const Cpuid& answers);

}  // namespace enginehost::platform
