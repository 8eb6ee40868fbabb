// The cost of an installation over a link of 1 Gbit/s, and of waiting for it.
#include <sstream>

#include "tests/bench/archive.hpp"
#include "tests/bench/compare.hpp"
#include "tests/bench/workplace.hpp"

namespace enginehost::bench {
namespace {

namespace fs = std::filesystem;

void register_one(const Effort& effort, const std::string& name, const std::string& mode,
                  const std::string& last, std::vector<std::string> counters) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [=](benchmark::State& state) {
                                 const fs::path archive = archive_of(
                                     std::uintmax_t{effort.quick ? 4U : 500U} << 20, "tar.zst", "marker");
                                 if (archive.empty())
                                   return state.SkipWithError("the archive could not be made");
                                 for ([[maybe_unused]] auto iteration : state) {
                                   const fs::path folder =
                                       empty_workplace(mode == "wait" ? "wire-wait" : "wire-install");
                                   std::string output;
                                   if (!run({built("tests/bench_wire_child").native(), mode, archive.native(),
                                             "tar.zst", folder.native(), last},
                                            &output))
                                     return state.SkipWithError("bench_wire_child did not succeed");
                                   std::istringstream words(output);
                                   for (const std::string& counter : counters) {
                                     double value = 0;
                                     if (!(words >> value)) {
                                       output.erase(output.find_last_not_of('\n') + 1);
                                       return state.SkipWithError(output.c_str());
                                     }
                                     state.counters[counter] = value;
                                   }
                                   state.SetIterationTime(state.counters[counters.front()] / 1e9);
                                 }
                               })
      ->UseManualTime()
      ->Iterations(1)
      ->Unit(benchmark::kMillisecond);
}

}  // namespace

void add_wire_benchmarks(const Effort& effort) {
  register_one(effort, "wire/install", "install", "1000",
               {"acquire_ns", "curl_ns", "wire_ns", "bytes", "unpacked", "rss_kb"});
  register_one(effort, "wire/wait", "wait", "17", {"wall_ns", "waiters_cpu_ns", "processes"});
}

}  // namespace enginehost::bench
