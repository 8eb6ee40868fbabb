// What CPUID and XGETBV say of an x86 processor.
#pragma once
#include <cstdint>
#include <string>

namespace enginehost {

// The leaves that are looked at; one that the processor does not have is all zero.
struct Cpuid {
  struct Registers {
    std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
  };
  Registers leaf1, leaf7, leaf7_1, extended1;
  std::uint64_t xcr0 = 0;  // which register state the system saves; 0 without OSXSAVE
  bool intel = false;
};

// Of this processor; all zero on another architecture. Asked once in a process: in a virtual machine each
// CPUID leaves for its monitor and takes 4 to 70 us. Any thread.
const Cpuid& cpuid_of_this_processor();

// "AMD EPYC 9R45"; empty where the processor tells none. Asks the processor each time, three times.
std::string processor_brand();

}  // namespace enginehost
