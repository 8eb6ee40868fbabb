#include "host/platform/cpu.hpp"

#include <sched.h>

#include <cstring>

#include "base/text.hpp"
#include "host/platform/parts.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>

#include <algorithm>
#endif

namespace enginehost::platform {
namespace {

int usable_cores() {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  return ::sched_getaffinity(0, sizeof usable, &usable) == 0 ? CPU_COUNT(&usable) : 0;
}

#if defined(__x86_64__)

// Each CPUID leaves a virtual machine for its monitor (20 to 70 µs nested, 1 µs at best), so every leaf is
// asked once: nine in all.
Cpu ask_processor() {
  CpuidAnswers answers;
  const auto ask = [](std::uint32_t leaf, std::uint32_t sub_leaf) {
    CpuidAnswers::Registers registers;
    __cpuid_count(leaf, sub_leaf, registers.eax, registers.ebx, registers.ecx, registers.edx);
    return registers;
  };
  const std::uint32_t highest = ask(0, 0).eax;
  answers.leaf1 = ask(1, 0);
  if (highest >= 7) answers.leaf7 = ask(7, 0);
  if (answers.leaf7.eax >= 1) answers.leaf7_1 = ask(7, 1);
  const std::uint32_t highest_extended = ask(0x80000000u, 0).eax;
  if (highest_extended >= 0x80000001u) answers.extended1 = ask(0x80000001u, 0);
  constexpr std::uint32_t osxsave = 1u << 27;
  if ((answers.leaf1.ecx & osxsave) != 0) {
    std::uint32_t low = 0, high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    answers.xcr0 = static_cast<std::uint64_t>(high) << 32 | low;
  }
  Cpu cpu = x86_cpu(answers);
  if (highest_extended >= 0x80000004u) {
    char model[49] = "";
    for (std::uint32_t part = 0; part < 3; ++part) {
      const CpuidAnswers::Registers registers = ask(0x80000002u + part, 0);
      std::memcpy(model + 16 * part, &registers, sizeof registers);
    }
    cpu.model = trim(model);
  }
  return cpu;
}
constexpr const char* asked = "cpuid";

#elif defined(__aarch64__)

// The bits of AT_HWCAP and AT_HWCAP2 (Linux, arch/arm64/include/uapi/asm/hwcap.h) that builds are made for.
Cpu ask_processor() {
  struct Feature {
    const char* name;
    int bit;
  };
  static constexpr Feature first[] = {{"fp", 0},       {"asimd", 1},    {"aes", 3},       {"pmull", 4},
                                      {"sha1", 5},     {"sha2", 6},     {"crc32", 7},     {"atomics", 8},
                                      {"fphp", 9},     {"asimdhp", 10}, {"asimdrdm", 12}, {"lrcpc", 15},
                                      {"asimddp", 20}, {"sha512", 21},  {"sve", 22}};
  static constexpr Feature second[] = {{"sve2", 1},  {"svei8mm", 9}, {"svebf16", 12},
                                       {"i8mm", 13}, {"bf16", 14},   {"sme", 23}};
  Cpu cpu;
  for (const Feature& feature : first)
    if ((::getauxval(AT_HWCAP) >> feature.bit & 1u) != 0) cpu.features.emplace_back(feature.name);
  for (const Feature& feature : second)
    if ((::getauxval(AT_HWCAP2) >> feature.bit & 1u) != 0) cpu.features.emplace_back(feature.name);
  std::sort(cpu.features.begin(), cpu.features.end());
  return cpu;
}
constexpr const char* asked = "AT_HWCAP";

#else

Cpu ask_processor() { return {}; }
constexpr const char* asked = "this program";

#endif

}  // namespace

Fact<Cpu> detect_cpu() {
  // A processor does not change under a running process; the cores it may use can.
  static const Cpu processor = ask_processor();
  Cpu cpu = processor;
  cpu.cores = usable_cores();
  return Fact<Cpu>::known(std::move(cpu), asked);
}

}  // namespace enginehost::platform
