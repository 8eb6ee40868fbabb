// How long something takes that must not take long, on a machine that has other work.
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

}  // namespace enginehost::test
