#include "host/platform/cpu.hpp"

#include <algorithm>
#include <bit>

#include "base/text.hpp"
#include "base/windows/system.hpp"
#include "host/platform/parts.hpp"
#include "host/platform/windows/registry.hpp"

namespace enginehost::platform {
namespace {

// A process with threads in several groups of 64 processors has no mask and may use all of them.
int usable_cores() {
  DWORD_PTR process = 0, system = 0;
  if (::GetProcessAffinityMask(::GetCurrentProcess(), &process, &system) != 0 && process != 0 &&
      (process != system || ::GetActiveProcessorGroupCount() == 1))
    return std::popcount(process);
  return static_cast<int>(::GetActiveProcessorCount(ALL_PROCESSOR_GROUPS));
}

#if defined(__x86_64__) || defined(_M_X64) || defined(__i386__) || defined(_M_IX86)

Cpu ask_processor() {
  Cpu cpu = x86_cpu(cpuid_of_this_processor());
  cpu.model = trim(processor_brand());
  return cpu;
}
constexpr const char* source = "cpuid";

#else

// The arm64 features that Windows reports (winnt.h, PF_ARM_…), by Linux's names.
Cpu ask_processor() {
  struct Feature {
    const char* name;
    DWORD number;
  };
  static constexpr Feature features[] = {{"fp", 18},      {"asimd", 19}, {"aes", 30},   {"pmull", 30},
                                         {"sha1", 30},    {"sha2", 30},  {"crc32", 31}, {"atomics", 34},
                                         {"asimddp", 43}, {"lrcpc", 45}};
  Cpu cpu;
  for (const Feature& feature : features)
    if (::IsProcessorFeaturePresent(feature.number) != 0) cpu.features.emplace_back(feature.name);
  std::sort(cpu.features.begin(), cpu.features.end());
  cpu.model = registry::text("HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0", "ProcessorNameString")
                  .value_or("");
  return cpu;
}
constexpr const char* source = "IsProcessorFeaturePresent";

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
