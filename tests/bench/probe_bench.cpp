// A probe, which is a child process, against a child that does nothing and against loading in this process.
#include "host/load/probe.hpp"
#include "tests/bench/child_time.hpp"
#include "tests/bench/compare.hpp"
#include "tests/bench/workplace.hpp"

namespace enginehost::bench {
namespace {

namespace fs = std::filesystem;

Comparison probe_of(const fs::path& plugin, const std::vector<fs::path>& preload) {
  load::ProbeRequest request;
  request.helper = built("libexec/enginehost/enginehost-probe");
  request.load.plugin = plugin;
  request.load.preload = preload;
  request.self_test = -1;
  const load::ProbeResult first = load::probe(request);
  if (!first.passed)
    return skipped("the probe does not pass" + (first.diagnosis ? ": " + first.diagnosis->code : ""));
  std::vector<std::string> raw = {"create", plugin.native()};
  for (const fs::path& path : preload) raw.push_back(path.native());
  Comparison comparison;
  comparison.sides = {{"probe", timed([=] { return load::probe(request).passed; })},
                      {"empty_child", timed([] { return spawn({"/bin/true"}); })},
                      {"in_process", child_time(raw)}};
  return comparison;
}

}  // namespace

void add_probe_benchmarks(const Effort& effort) {
  add_comparison(effort, "probe/reference", 25,
                 [] { return probe_of(built("engines/libengine_reference.so"), {}); });
}

}  // namespace enginehost::bench
