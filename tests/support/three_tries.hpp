// What depends on time, on a machine that has other work: what is right shows in one of three tries, what is
// wrong in none.
#pragma once
#include <algorithm>
#include <chrono>

namespace enginehost::test {

// The shortest of up to three measurements; the first below `enough` is the last. What a busy machine adds to
// one of them is not the program's.
template <class Measure>
std::chrono::steady_clock::duration shortest_of_three(std::chrono::milliseconds enough, Measure measure) {
  auto shortest = std::chrono::steady_clock::duration::max();
  for (int i = 0; i < 3 && shortest >= enough; ++i)
    shortest = std::min<std::chrono::steady_clock::duration>(shortest, measure());
  return shortest;
}

// The outcome of the first of up to three tries that is the expected one, else of the last.
template <class Outcome, class Try>
auto one_of_three(const Outcome& expected, Try attempt) {
  auto outcome = attempt();
  for (int i = 1; i < 3 && outcome != expected; ++i) outcome = attempt();
  return outcome;
}

}  // namespace enginehost::test
