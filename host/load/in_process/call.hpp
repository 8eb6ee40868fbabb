// The host's side of one operation in a plugin: deadline, cancel, progress, and the reports it makes.
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

// One call at a time; make a new one for each operation. The plugin may use get() from any of its threads
// until the function it was passed to has returned.
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

  // The outcome: nothing for ENGINE_OK, else EH-E01 with "status", "origin", "native", "message", and every
  // detail under its key. ENGINE_CANCELLED and a time that ran out are EH-P10 with "reason".
  Result<void> finish(engine_status status) const;

  // What was reported before ENGINE_OK: EH-E01 as above with "overcome", which names the function; nothing
  // when nothing was.
  std::optional<Diagnosis> overcome(std::string_view function) const;

 private:
  friend struct CallAccess;
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

// EH-E01 of a plugin that said ENGINE_OK and broke its word: gave_wrongly("load", "no model").
Diagnosis gave_wrongly(std::string_view function, std::string_view what);

// "ENGINE_UNAVAILABLE".
std::string name_of_status(engine_status status);

}  // namespace enginehost::load
