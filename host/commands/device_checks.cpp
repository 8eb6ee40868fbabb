#include "host/commands/device_checks.hpp"

#include <chrono>

#include "host/explain/explain.hpp"

namespace enginehost::commands {

CheckedDevice check_one(open::Opened& opened, const std::string& device,
                        const std::optional<CancelToken>& cancel) {
  load::CallOptions call;
  call.timeout = std::chrono::seconds(10);
  call.cancel = cancel;
  CheckedDevice checked;
  checked.device = device;
  if (auto check = open::check_device(opened, device, call))
    checked.check = std::move(*check);
  else
    checked.failure = std::move(check).error();
  return checked;
}

std::vector<CheckedDevice> check_devices(open::Opened& opened, const std::optional<CancelToken>& cancel) {
  std::vector<std::string> names;
  for (const load::Device& device : opened.devices) names.push_back(device.text());
  std::vector<CheckedDevice> all;
  for (const std::string& name : names) all.push_back(check_one(opened, name, cancel));
  return all;
}

std::string describe(const std::vector<CheckedDevice>& devices) {
  std::string text = devices.empty() ? "" : "measured\n";
  for (const CheckedDevice& device : devices) {
    std::string line = "  " + device.device;
    line.append(line.size() < 16 ? 16 - line.size() : 1, ' ');
    text += line +
            (device.check ? load::describe(*device.check) : "FAILED " + explain::one_line(*device.failure)) +
            "\n";
  }
  return text;
}

Json to_json(const CheckedDevice& device) {
  if (device.check) return load::to_json(*device.check).set("diagnosis", Json());
  return Json::object().set("diagnosis", explain::to_json(*device.failure));
}

Json with_checks(const Json& document, const std::vector<CheckedDevice>& devices) {
  Json list = Json::array();
  for (const Json& known : document["outcome"]["devices"].as_array()) {
    Json device = known;
    for (const CheckedDevice& checked : devices)
      if (checked.device == known["device"].as_string()) device.set("checked", to_json(checked));
    list.push(std::move(device));
  }
  Json outcome = document["outcome"], whole = document;
  outcome.set("devices", std::move(list));
  whole.set("outcome", std::move(outcome));
  return whole;
}

}  // namespace enginehost::commands
