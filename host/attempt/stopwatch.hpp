// Measures how long the stages of an attempt take.
#pragma once
#include <chrono>
#include <string>
#include <utility>

#include "host/attempt/attempt.hpp"

namespace enginehost::open {

// Adds the time of its scope to the log.
class Stopwatch {
 public:
  Stopwatch(AttemptLog& log, std::string what) : log_(log), what_(std::move(what)) {}
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch() {
    const std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - begin_;
    for (auto& [what, milliseconds] : log_.timings_ms)
      if (what == what_) {
        milliseconds += passed.count();
        return;
      }
    log_.timings_ms.emplace_back(std::move(what_), passed.count());
  }

 private:
  AttemptLog& log_;
  std::string what_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace enginehost::open
