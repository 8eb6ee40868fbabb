#include "host/sdk/chosen_device.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"

namespace enginehost::sdk {
namespace {

using load::Device;

// Returns the nearest build with such devices that was not opened, and why, from the decision's document.
std::string why_no_other_build(const Json& report, std::string_view kind) {
  for (const Json& candidate : report["candidates"].as_array()) {
    const std::string& flavor = candidate["flavor"].as_string();
    const bool meant = kind == "gpu"    ? flavor != "cpu"
                       : kind == "cuda" ? flavor.size() > 2 && flavor.starts_with("cu") && flavor[2] >= '0' &&
                                              flavor[2] <= '9'
                       : kind == "metal" || kind == "mps" ? flavor == "mps"
                                                          : flavor.starts_with(kind);
    if (!meant || candidate["diagnosis"].is_null()) continue;
    return candidate["build"].as_string() + ": " + candidate["diagnosis"]["code"].as_string() + " " +
           candidate["diagnosis"]["cause"].as_string();
  }
  return "";
}

Diagnosis not_there(std::string_view wanted, const enginehost_engine& engine) {
  Diagnosis missing = diagnose("EH-S09");
  missing.with("device", wanted);
  for (const std::string& name : engine.shared->device_names()) missing.with("offered", name, "the engine");
  const std::string_view kind = wanted.substr(0, wanted.find_first_of(":,"));
  const auto report = parse_json(engine.shared->report(), "report");
  if (!report) return missing;
  if (const std::string why = why_no_other_build(*report, kind); !why.empty())
    missing.with("other_build", why);
  // The variable hides devices from all NVIDIA libraries, and renumbers the others.
  const Json& visible = (*report)["platform"]["cuda"]["visible_devices"]["value"];
  if (visible.is_string() && (kind == "cuda" || kind == "gpu"))
    missing.with("cuda_visible_devices", visible.as_string().empty() ? "\"\"" : visible.as_string(),
                 "environment");
  return missing;
}

// Returns the default device of an application that names none; null if there are no devices.
const Device* default_of(const enginehost_engine& engine) {
  const auto& devices = engine.shared->opened().devices;
  for (const std::string* preference :
       {&engine.default_device, &engine.requested_device, &engine.shared->preferred_device()})
    if (const Device* const device = load::first_meant(devices, *preference)) return device;
  return load::usual_device(devices);
}

}  // namespace

Result<std::size_t> chosen_device(const enginehost_engine& engine, const char* wanted) {
  const auto& devices = engine.shared->opened().devices;
  const bool any = wanted == nullptr || *wanted == '\0';
  const Device* const found = any ? default_of(engine) : load::first_meant(devices, wanted);
  if (found == nullptr) return fail(not_there(any ? "any" : wanted, engine));
  return static_cast<std::size_t>(found - devices.data());
}

}  // namespace enginehost::sdk
