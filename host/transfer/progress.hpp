// Progress of a long operation.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace enginehost::transfer {

// Progress of a long operation.

struct Progress {
  enum class Phase { waiting, asking, downloading, unpacking, checking, publishing, done };
  Phase phase = Phase::downloading;
  std::uint64_t done = 0;              // bytes; never decreases within one operation
  std::optional<std::uint64_t> total;  // when known
  double bytes_per_second = 0;         // over the last seconds
  std::string source;  // the URL without credentials, the path, or the process that is waited for
};
const char* name_of(Progress::Phase phase);

// Called from the thread that runs the operation, at most about ten times a second. Must not throw.
using ProgressCallback = std::function<void(const Progress&)>;

// Turns byte counts into progress reports.

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
