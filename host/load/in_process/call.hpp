// The host's side of one call into a plugin: deadline, cancellation, progress, and the reports that the
// plugin makes.
#pragma once
#include <enginehost/engine_plugin.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/cancel.hpp"
#include "base/result.hpp"

namespace enginehost::load {

struct CallOptions {
  std::chrono::milliseconds timeout{0};  // 0: none
  std::optional<CancelToken> cancel;
  // Called on the plugin's threads, possibly concurrently; must not throw. total 0: unknown.
  std::function<void(std::uint64_t done, std::uint64_t total, std::string_view stage)> progress;
};

// State of one call. Create a new one for each operation. The plugin may use get() from any of its threads
// until the function that received it has returned.
class Call {
 public:
  explicit Call(CallOptions options = {});
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  engine_call* get() { return &call_; }

  struct Report {
    engine_status status = ENGINE_OK;
    std::string origin;  // "cuda", or empty
    std::int64_t native = 0;
    std::string message;
  };
  std::vector<Report> reports() const;
  std::vector<std::pair<std::string, std::string>> details() const;

  // Returns the outcome: success for ENGINE_OK, otherwise EH-E01 with "status", "origin", "native", "message"
  // and every detail under its key. ENGINE_CANCELLED and an expired timeout are EH-P10 with "reason".
  Result<void> finish(engine_status status) const;

  // Returns what the plugin reported although it then returned ENGINE_OK: EH-E01 as above, with the
  // function's name in "overcome". Nothing when there was no report.
  std::optional<Diagnosis> overcome(std::string_view function) const;

 private:
  static Call* of(const engine_call* call);
  Diagnosis report(engine_status status) const;
  bool timed_out() const;
  bool canceled() const;
  CallOptions options_;
  std::chrono::steady_clock::time_point deadline_;
  engine_call call_{};
  mutable std::mutex mutex_;
  std::vector<Report> reports_;
  std::vector<std::pair<std::string, std::string>> details_;
};

// Returns EH-E01 for a plugin that returned ENGINE_OK without the promised result: gave_wrongly("load", "no
// model").
Diagnosis gave_wrongly(std::string_view function, std::string_view what);

// Returns the name as in "ENGINE_UNAVAILABLE".
std::string name_of_status(engine_status status);

}  // namespace enginehost::load
