// Detecting a machine without drivers, in a new process.
#include "base/text.hpp"
#include "tests/bench/child_time.hpp"
#include "tests/bench/compare.hpp"
#include "tests/bench/workplace.hpp"

namespace enginehost::bench {

void add_detect_benchmarks(const Effort& effort) {
  add_comparison(effort, "detect/first", 25, [] {
    if (std::filesystem::exists("/proc/driver/nvidia/version"))
      return skipped("this machine has an NVIDIA driver");
    Comparison comparison;
    comparison.sides = {
        {"detect", child_time({"detect", built("libexec/enginehost/enginehost-probe").native()})},
        // The floor: reading the necessary files.
        {"read", child_time({"read", "/etc/os-release", "/proc/version", "/proc/meminfo", "/etc/ld.so.cache",
                             "/proc/self/mountinfo", "/proc/self/cgroup"})}};
    return comparison;
  });
}

}  // namespace enginehost::bench
