#include "host/platform/cpu.hpp"

#include <sched.h>

#include "base/text.hpp"
#include "host/platform/parts.hpp"

#if defined(__aarch64__)
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

Cpu ask_processor() {
  Cpu cpu = x86_cpu(cpuid_of_this_processor());
  cpu.model = trim(processor_brand());
  return cpu;
}
constexpr const char* source = "cpuid";

#elif defined(__aarch64__)

// The bits of AT_HWCAP and AT_HWCAP2 (Linux, arch/arm64/include/uapi/asm/hwcap.h) for which builds are made.
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
constexpr const char* source = "AT_HWCAP";

#else

Cpu ask_processor() { return {}; }
constexpr const char* source = "this program";

#endif

}  // namespace

Fact<Cpu> detect_cpu() {
  // The processor does not change while a process runs, but the cores it may use can.
  static const Cpu& processor = *new Cpu(ask_processor());
  Cpu cpu = processor;
  cpu.cores = usable_cores();
  return Fact<Cpu>::known(std::move(cpu), source);
}

}  // namespace enginehost::platform
