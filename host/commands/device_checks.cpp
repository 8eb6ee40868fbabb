#include "host/commands/device_checks.hpp"

#include <chrono>
#include <cstdio>

#include "host/commands/say.hpp"
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
  std::vector<CheckedDevice> all;
  for (const load::Device& device : opened.devices) all.push_back(check_one(opened, device.text(), cancel));
  return all;
}

std::string describe(const std::vector<CheckedDevice>& devices) {
  std::string text = devices.empty() ? "" : "measured\n";
  for (const CheckedDevice& device : devices) {
    text += labeled(device.device, device.check ? load::describe(*device.check)
                                                : "FAILED " + explain::one_line(*device.failure));
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

namespace {

// The meaning of each level, as in engine_plugin.h.
constexpr const char* level_names[] = {"libraries and symbols resolve", "the device opens and allocates",
                                       "a built-in graph gives its stored answer"};

}  // namespace

SelfTestReport run_self_test(open::Opened& opened, const std::optional<CancelToken>& cancel) {
  SelfTestReport report;
  for (const load::Device& device : opened.devices)
    for (int level = 0; level < 3; ++level) {
      load::CallOptions call;
      call.timeout = std::chrono::seconds(30);
      call.cancel = cancel;
      const auto begin = std::chrono::steady_clock::now();
      auto result = opened.engine->self_test(level, device.id, call);
      const std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - begin;
      report.lines.push_back({device.text(), level, passed.count(), {}});
      if (result) continue;
      report.lines.back().failure = std::move(result).error();
      report.passed = false;
      break;
    }
  // Without a device nothing was tested.
  report.passed = report.passed && !report.lines.empty();
  return report;
}

std::string describe(const SelfTestReport& report) {
  std::string text = report.lines.empty() ? "self-test: the engine offers no device\n" : "self-test\n";
  for (const SelfTestReport::Line& line : report.lines) {
    char numbers[64];
    std::snprintf(numbers, sizeof numbers, "  %-8s level %d  %8.1f ms  ", line.device.c_str(), line.level,
                  line.milliseconds);
    text += numbers;
    text += line.failure ? "FAILED " + explain::one_line(*line.failure)
                         : std::string("ok: ") + level_names[line.level];
    text += "\n";
  }
  return text;
}

Json to_json(const SelfTestReport& report) {
  Json lines = Json::array();
  for (const SelfTestReport::Line& line : report.lines)
    lines.push(Json::object()
                   .set("device", line.device)
                   .set("level", line.level)
                   .set("passed", !line.failure.has_value())
                   .set("milliseconds", line.milliseconds)
                   .set("diagnosis", line.failure ? explain::to_json(*line.failure) : Json()));
  return Json::object().set("passed", report.passed).set("levels", std::move(lines));
}

}  // namespace enginehost::commands
