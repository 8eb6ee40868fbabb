#include "base/cpuid.hpp"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

#include <cstring>
#endif

namespace enginehost {

#if defined(__x86_64__) || defined(__i386__)
namespace {

Cpuid::Registers ask(std::uint32_t leaf, std::uint32_t sub_leaf) {
  Cpuid::Registers registers;
  __cpuid_count(leaf, sub_leaf, registers.eax, registers.ebx, registers.ecx, registers.edx);
  return registers;
}

constexpr std::uint32_t first_extended = 0x80000000u, last_of_brand = 0x80000004u;

Cpuid ask_all() {
  Cpuid answers;
  const Cpuid::Registers first = ask(0, 0);
  answers.intel = first.ebx == 0x756e6547;  // "Genu"
  answers.leaf1 = ask(1, 0);
  if (first.eax >= 7) answers.leaf7 = ask(7, 0);
  if (answers.leaf7.eax >= 1) answers.leaf7_1 = ask(7, 1);
  if (ask(first_extended, 0).eax > first_extended) answers.extended1 = ask(first_extended + 1, 0);
  constexpr std::uint32_t osxsave = 1u << 27;
  if ((answers.leaf1.ecx & osxsave) != 0) {
    std::uint32_t low = 0, high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    answers.xcr0 = static_cast<std::uint64_t>(high) << 32 | low;
  }
  return answers;
}

}  // namespace

const Cpuid& cpuid_of_this_processor() {
  static const Cpuid answers = ask_all();
  return answers;
}

std::string processor_brand() {
  // Every processor with 64-bit mode ("lm") has the brand leaves.
  constexpr std::uint32_t long_mode = 1u << 29;
  if ((cpuid_of_this_processor().extended1.edx & long_mode) == 0 &&
      ask(first_extended, 0).eax < last_of_brand)
    return {};
  char brand[49] = "";
  for (std::uint32_t part = 0; part < 3; ++part) {
    const Cpuid::Registers registers = ask(first_extended + 2 + part, 0);
    std::memcpy(brand + 16 * part, &registers, sizeof registers);
  }
  return brand;
}

#else

const Cpuid& cpuid_of_this_processor() {
  static const Cpuid none;
  return none;
}

std::string processor_brand() { return {}; }

#endif

}  // namespace enginehost
