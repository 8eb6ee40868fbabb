// Turns byte counts into progress reports.
#pragma once
#include <chrono>

#include "host/transfer/progress.hpp"

namespace enginehost::transfer {

// Calls back at most ten times a second, with a smoothed rate and a count that never decreases. One thread at
// a time.
class Meter {
 public:
  Meter(ProgressCallback callback, Progress::Phase phase, std::string source)
      : callback_(std::move(callback)) {
    progress_.phase = phase;
    progress_.source = std::move(source);
  }
  void expect(std::optional<std::uint64_t> total) { progress_.total = total; }
  // `done`: bytes so far. `now`: report even if the last report was just made.
  void at(std::uint64_t done, bool now = false);

 private:
  using Clock = std::chrono::steady_clock;
  ProgressCallback callback_;
  Progress progress_;
  Clock::time_point reported_{}, measured_ = Clock::now();
  std::uint64_t measured_at_ = 0;
  bool measuring_ = false;
};

}  // namespace enginehost::transfer
