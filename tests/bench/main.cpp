// enginehost_bench: Google Benchmark's flags, and --quick (each benchmark once, with the smallest inputs).
#include <cstring>

#include "tests/bench/compare.hpp"

int main(int argc, char** argv) {
  enginehost::bench::Effort effort;
  int kept = 1;
  for (int i = 1; i < argc; ++i)
    if (std::strcmp(argv[i], "--quick") == 0)
      effort.quick = true;
    else
      argv[kept++] = argv[i];
  benchmark::Initialize(&kept, argv);
  if (benchmark::ReportUnrecognizedArguments(kept, argv)) return 2;
  using namespace enginehost::bench;
  add_closure_benchmarks(effort);
  add_bindings_benchmarks(effort);
  add_decide_benchmarks(effort);
  add_list_benchmarks(effort);
  add_detect_benchmarks(effort);
  add_call_benchmarks(effort);
  add_operation_benchmarks(effort);
  add_open_benchmarks(effort);
  add_probe_benchmarks(effort);
  add_command_benchmarks(effort);
  add_plan_benchmarks(effort);
  add_fetch_benchmarks(effort);
  add_install_benchmarks(effort);
  add_wire_benchmarks(effort);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
