// The processor as a program may use it, worked out from what CPUID and XGETBV said.
#pragma once
#include <cstdint>

#include "host/platform/platform.hpp"

namespace enginehost::platform {

// The answers of the CPUID leaves that are looked at. An unsupported leaf is all zero.
struct CpuidAnswers {
  struct Registers {
    std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
  };
  Registers leaf1, leaf7, leaf7_1, extended1;
  std::uint64_t xcr0 = 0;  // which register state the system saves; 0 without OSXSAVE
};

// Feature names and x86-64-v level. A feature whose registers the system does not save is left out, whatever
// CPUID says: using it would be SIGILL.
Cpu x86_cpu(const CpuidAnswers& answers);

}  // namespace enginehost::platform
