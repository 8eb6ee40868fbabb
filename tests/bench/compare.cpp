#include "tests/bench/compare.hpp"

#include <algorithm>
#include <chrono>
#include <memory>

namespace enginehost::bench {
namespace {

using Clock = std::chrono::steady_clock;

double nanoseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

Turn timed(std::function<bool()> work) {
  return [work = std::move(work)]() -> std::optional<double> {
    const auto begin = Clock::now();
    if (!work()) return std::nullopt;
    return nanoseconds_since(begin);
  };
}

Turn timed_each(int times, std::function<void()> work) {
  return [times, work = std::move(work)]() -> std::optional<double> {
    const auto begin = Clock::now();
    for (int i = 0; i < times; ++i) work();
    return nanoseconds_since(begin) / times;
  };
}

void take_turns(benchmark::State& state, const std::vector<Side>& sides, bool warm_up) {
  std::vector<std::vector<double>> times(sides.size());
  const auto take = [&](std::size_t number, bool counts) {
    const auto time = sides[number].turn();
    if (!time) {
      state.SkipWithError((sides[number].name + " did not succeed").c_str());
      return false;
    }
    if (counts) times[number].push_back(*time);
    return true;
  };
  for (std::size_t i = 0; warm_up && i < sides.size(); ++i)
    if (!take(i, false)) return;
  std::size_t round = 0;
  for (auto iteration : state) {
    static_cast<void>(iteration);
    for (std::size_t i = 0; i < sides.size(); ++i)
      if (!take((round + i) % sides.size(), true)) return;
    ++round;
    state.SetIterationTime(times.front().back() / 1e9);
  }
  if (round == 0) return;
  const double subject = median(times.front());
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const double own = median(times[i]);
    state.counters[sides[i].name + "_ns"] = own;
    if (i > 0) state.counters["x_" + sides[i].name] = subject / own;
  }
}

void add_comparison(const Effort& effort, const std::string& name, int rounds,
                    std::function<Comparison()> make) {
  // Made at the first run and kept for the repetitions.
  auto made = std::make_shared<std::optional<Comparison>>();
  benchmark::RegisterBenchmark(name.c_str(),
                               [made, make = std::move(make)](benchmark::State& state) {
                                 if (!*made) *made = make();
                                 if ((*made)->skip) {
                                   state.SkipWithError(("left out: " + (*made)->skip->why).c_str());
                                   return;
                                 }
                                 take_turns(state, (*made)->sides, (*made)->warm_up);
                               })
      ->Iterations(effort.rounds(rounds))
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond);
}

Comparison skipped(std::string why) {
  Comparison comparison;
  comparison.skip = Skip{std::move(why)};
  return comparison;
}

}  // namespace enginehost::bench
