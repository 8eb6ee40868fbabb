// engine-info as a process against an empty one.
#include "tests/bench/child_time.hpp"
#include "tests/bench/compare.hpp"
#include "tests/bench/workplace.hpp"

namespace enginehost::bench {
namespace {

Comparison against_empty(const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {built("bin/engine-info").native()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  // A cache of its own: what somebody has installed must not change the figure.
  const std::vector<std::string> environment = {"ENGINEHOST_CACHE=" + workplace("command-cache").native()};
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
  add_comparison(effort, "command/engine_info", 51, [] { return against_empty({"--offline"}); });
  add_comparison(effort, "command/engine_info_reference", 51, [] {
    return against_empty({"reference", "--offline"});
  });
}

}  // namespace enginehost::bench
