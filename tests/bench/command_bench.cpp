// engine-info as a process compared with an empty one.
#include "tests/bench/child_time.hpp"
#include "tests/bench/compare.hpp"
#include "tests/bench/prepared.hpp"
#include "tests/bench/workplace.hpp"

namespace enginehost::bench {
namespace {

// With the cache and the repository of the prepared engine, so that a user's installation does not change the
// figure.
Comparison against_empty(const std::vector<std::string>& arguments) {
  std::string why;
  const auto prepared = prepare_reference(why);
  if (!prepared) return skipped(why);
  std::vector<std::string> command = {built("bin/engine-info").native()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const std::vector<std::string> environment = {"ENGINEHOST_CACHE=" + prepared->cache,
                                                "ENGINEHOST_REPOSITORIES=" + prepared->repository,
                                                "ENGINEHOST_OFFLINE=1"};
  const std::string empty = built("tests/bench_empty_process").native();
  if (!spawn(command, environment)) return skipped("the command fails");
  Comparison comparison;
  comparison.sides = {{"engine_info", timed([=] { return spawn(command, environment); })},
                      {"empty", timed([=] {
                         return spawn({empty, "x"});
                       })}};
  return comparison;
}

}  // namespace

void add_command_benchmarks(const Effort& effort) {
  add_comparison(effort, "command/version", 51, [] { return against_empty({"--version"}); });
  add_comparison(effort, "command/engine_info", 51, [] { return against_empty({}); });
  add_comparison(effort, "command/engine_info_reference", 51, [] { return against_empty({"reference"}); });
}

}  // namespace enginehost::bench
