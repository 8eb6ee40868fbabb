// The answers of CPUID and XGETBV on an x86 processor.
#pragma once
#include <cstdint>
#include <string>

namespace enginehost {

// The leaves that EngineHost reads. A leaf that the processor lacks is all zero.
struct Cpuid {
  struct Registers {
    std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
  };
  Registers leaf1, leaf7, leaf7_1, extended1;
  std::uint64_t xcr0 = 0;  // the register state that the system saves; 0 without OSXSAVE
  bool intel = false;
};

// Returns the answers of this processor; all zero on another architecture. They are read once per process, because a
// CPUID in a virtual machine exits to its hypervisor and takes 4 to 70 us. Thread safety: any thread.
const Cpuid& cpuid_of_this_processor();

// Returns "AMD EPYC 9R45"; empty if the processor has no brand string. Executes CPUID three times per call.
std::string processor_brand();

}  // namespace enginehost
