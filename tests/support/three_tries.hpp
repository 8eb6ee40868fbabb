// Tests that depend on time, on a busy machine: a correct program passes in one of three tries, a wrong one
// in none.
#pragma once
#include <algorithm>
#include <chrono>

namespace enginehost::test {

// The shortest of up to three measurements; a measurement below `enough` ends the series. A busy machine may
// lengthen one of them.
template <class Measure>
std::chrono::steady_clock::duration shortest_of_three(std::chrono::milliseconds enough, Measure measure) {
  auto shortest = std::chrono::steady_clock::duration::max();
  for (int i = 0; i < 3 && shortest >= enough; ++i)
    shortest = std::min<std::chrono::steady_clock::duration>(shortest, measure());
  return shortest;
}

// The first of up to three outcomes that is the expected one, else the last.
template <class Outcome, class Try>
auto one_of_three(const Outcome& expected, Try attempt) {
  auto outcome = attempt();
  for (int i = 1; i < 3 && outcome != expected; ++i) outcome = attempt();
  return outcome;
}

}  // namespace enginehost::test
