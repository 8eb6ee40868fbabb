// Comparisons inside one run: the subject and its floors alternate, so that noise affects all of them.
#pragma once
#include <benchmark/benchmark.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace enginehost::bench {

// Does its work once and returns the nanoseconds it took; nothing when it failed.
using Turn = std::function<std::optional<double>()>;

struct Side {
  std::string name;  // "open", "dlopen": the counter "<name>_ns" is its median
  Turn turn;
};

// Times `work` with the steady clock.
Turn timed(std::function<bool()> work);
// Calls `work` `times` times in a row, for work that is too short to be timed alone. Returns nanoseconds per
// call.
Turn timed_each(int times, std::function<void()> work);

// The body of a benchmark: in each iteration every side runs once, in a rotating order. Sets the counters
// "<name>_ns" (medians over the iterations) and, for each side after the first, "x_<name>": the first side's
// median divided by that side's. With `warm_up` a first round is not counted. The iteration time is the first
// side's.
void take_turns(benchmark::State& state, const std::vector<Side>& sides, bool warm_up = true);

// The amount of work of a run.
struct Effort {
  bool quick = false;  // once each with the smallest inputs: checks only that it works
  int rounds(int full) const { return quick ? 1 : full; }
};

// Registers a comparison that runs `rounds` times in each repetition (once with quick). The sides are made
// when it runs, so that nothing is prepared for a comparison that is filtered out. A reason instead of sides
// skips it.
struct Skip {
  std::string why;
};
struct Comparison {
  std::vector<Side> sides;
  std::optional<Skip> skip;
  bool warm_up = true;
};
void add_comparison(const Effort& effort, const std::string& name, int rounds,
                    std::function<Comparison()> make);

Comparison skipped(std::string why);

// One function for each file of benchmarks.
void add_bindings_benchmarks(const Effort& effort);
void add_call_benchmarks(const Effort& effort);
void add_closure_benchmarks(const Effort& effort);
void add_command_benchmarks(const Effort& effort);
void add_decide_benchmarks(const Effort& effort);
void add_detect_benchmarks(const Effort& effort);
void add_fetch_benchmarks(const Effort& effort);
void add_install_benchmarks(const Effort& effort);
void add_list_benchmarks(const Effort& effort);
void add_open_benchmarks(const Effort& effort);
void add_operation_benchmarks(const Effort& effort);
void add_plan_benchmarks(const Effort& effort);
void add_probe_benchmarks(const Effort& effort);
void add_wire_benchmarks(const Effort& effort);

}  // namespace enginehost::bench
