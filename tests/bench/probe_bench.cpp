// A probe, which is a child process, compared with a child that does nothing and with loading in this
// process.
#include "host/load/probe.hpp"
#include "tests/bench/child_time.hpp"
#include "tests/bench/compare.hpp"
#include "tests/bench/prepared.hpp"
#include "tests/bench/workplace.hpp"

namespace enginehost::bench {
namespace {

Comparison probe_of(std::optional<Prepared> (*prepare)(std::string& why)) {
  std::string why;
  const auto prepared = prepare(why);
  if (!prepared) return skipped(why);
  load::ProbeRequest request;
  request.helper = built("libexec/enginehost/enginehost-probe");
  request.load.view = prepared->view;
  request.load.plugin = prepared->libraries.front();
  request.load.preload.assign(prepared->libraries.begin() + 1, prepared->libraries.end());
  request.self_test = -1;
  const load::ProbeResult first = load::probe(request);
  if (!first.passed)
    return skipped("the probe does not pass" +
                   (first.diagnosis ? ": " + std::string(first.diagnosis->code_text()) : ""));
  std::vector<std::string> in_process = {"create"};
  in_process.insert(in_process.end(), prepared->libraries.begin(), prepared->libraries.end());
  Comparison comparison;
  comparison.sides = {{"probe", timed([=] { return load::probe(request).passed; })},
                      {"empty_child", timed([] { return spawn({"/bin/true"}); })},
                      {"in_process", child_time(in_process)}};
  return comparison;
}

}  // namespace

void add_probe_benchmarks(const Effort& effort) {
  add_comparison(effort, "probe/reference", 25, [] { return probe_of(prepare_reference); });
  add_comparison(effort, "probe/onnxruntime", 15, [] { return probe_of(prepare_onnxruntime); });
}

}  // namespace enginehost::bench
