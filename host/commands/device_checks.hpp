// What a small computation on each device of an open engine showed.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "base/json.hpp"
#include "host/open/device_check.hpp"

namespace enginehost::commands {

struct CheckedDevice {
  std::string device;
  std::optional<load::DeviceCheck> check;
  std::optional<Diagnosis> failure;
};

// Every device of the engine, in its order; at most 10 s each.
std::vector<CheckedDevice> check_devices(open::Opened& opened, const std::optional<CancelToken>& cancel);
CheckedDevice check_one(open::Opened& opened, const std::string& device,
                        const std::optional<CancelToken>& cancel);

std::string describe(const std::vector<CheckedDevice>& devices);
// load::to_json() of the check, or {"diagnosis"}.
Json to_json(const CheckedDevice& device);
// The document with outcome.devices[].checked.
Json with_checks(const Json& document, const std::vector<CheckedDevice>& devices);

}  // namespace enginehost::commands
