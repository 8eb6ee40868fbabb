// Tests of the devices of an open engine: a small computation on each, and the engine's own self-test.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "base/json.hpp"
#include "host/attempt/attempt.hpp"
#include "host/open/shared.hpp"

namespace enginehost::commands {

struct CheckedDevice {
  std::string device;
  std::optional<load::DeviceCheck> check;
  std::optional<Diagnosis> failure;
};

// Checks every device in the order of the engine, for at most 10 s each.
std::vector<CheckedDevice> check_devices(open::Opened& opened, const std::optional<CancelToken>& cancel);
CheckedDevice check_one(open::Opened& opened, const std::string& device,
                        const std::optional<CancelToken>& cancel);

std::string describe(const std::vector<CheckedDevice>& devices);
// Returns load::to_json() of the check with "diagnosis": null, or only the diagnosis.
Json to_json(const CheckedDevice& device);
// Returns the document with outcome.devices[].checked.
Json with_checks(const Json& document, const std::vector<CheckedDevice>& devices);

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
