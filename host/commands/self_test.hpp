// The engine's own self-test on each of its devices, reported level by level.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "base/json.hpp"
#include "host/attempt/attempt.hpp"

namespace enginehost::commands {

struct SelfTestReport {
  struct Line {
    std::string device;
    int level = 0;
    double milliseconds = 0;
    std::optional<Diagnosis> failure;
  };
  bool passed = true;
  std::vector<Line> lines;
};

// Runs levels 0 to 2 on every device. After a level that fails, the device's further levels are skipped.
SelfTestReport run_self_test(open::Opened& opened, const std::optional<CancelToken>& cancel);
std::string describe(const SelfTestReport& report);
Json to_json(const SelfTestReport& report);

}  // namespace enginehost::commands
