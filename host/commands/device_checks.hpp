// The results of a small computation on each device of an open engine.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "base/json.hpp"
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

}  // namespace enginehost::commands
