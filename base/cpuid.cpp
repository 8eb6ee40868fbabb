#include "base/cpuid.hpp"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

#include <cstring>
#ifdef __GLIBC__
// In glibc since 2.33 (its manual, "X86-specific Facilities"). Weak, so that a program still starts with an
// older glibc. Declared here because some C++ compilers reject <sys/platform/x86.h>. The result is
// cpuid_array followed by active_array.
extern "C" const unsigned* __x86_get_cpuid_feature_leaf(unsigned index) __attribute__((weak));
#endif
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

#ifdef __GLIBC__
// The loader has already queried the processor to choose its memcpy, and keeps the answers.
bool ask_libc(Cpuid& answers) {
  if (__x86_get_cpuid_feature_leaf == nullptr) return false;
  // CPUID_INDEX_1 and so on from <bits/platform/x86.h>.
  constexpr unsigned index_1 = 0, index_7 = 1, index_80000001 = 2, index_7_1 = 6;
  const auto leaf = [](unsigned index) {
    const unsigned* said = __x86_get_cpuid_feature_leaf(index);
    return Cpuid::Registers{said[0], said[1], said[2], said[3]};
  };
  answers.leaf1 = leaf(index_1);
  answers.leaf7 = leaf(index_7);
  answers.extended1 = leaf(index_80000001);
  if (answers.leaf7.eax >= 1) answers.leaf7_1 = leaf(index_7_1);
  return answers.leaf1.edx != 0;
}
#else
bool ask_libc(Cpuid&) { return false; }
#endif

Cpuid ask_all() {
  Cpuid answers;
  const Cpuid::Registers first = ask(0, 0);
  answers.intel = first.ebx == 0x756e6547;  // "Genu"
  if (!ask_libc(answers)) {
    answers.leaf1 = ask(1, 0);
    if (first.eax >= 7) answers.leaf7 = ask(7, 0);
    if (answers.leaf7.eax >= 1) answers.leaf7_1 = ask(7, 1);
    if (ask(first_extended, 0).eax > first_extended) answers.extended1 = ask(first_extended + 1, 0);
  }
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
