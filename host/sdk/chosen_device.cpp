#include "host/sdk/chosen_device.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/text.hpp"

namespace enginehost::sdk {
namespace {

using load::Device;

// The first entry of the list that names something there; devices.size() when none does.
std::size_t first_of(const std::vector<Device>& devices, std::string_view wanted) {
  for (const std::string& entry : split(wanted, ','))
    for (std::size_t i = 0; i < devices.size(); ++i)
      if (devices[i].is_meant_by(trim(entry))) return i;
  return devices.size();
}

// The nearest build with such devices that was not opened, and why: what the decision's document says of it.
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
  // It hides devices from every library of NVIDIA's, and renumbers those that are left.
  const Json& visible = (*report)["platform"]["cuda"]["visible_devices"]["value"];
  if (visible.is_string() && (kind == "cuda" || kind == "gpu"))
    missing.with("cuda_visible_devices", visible.as_string().empty() ? "\"\"" : visible.as_string(),
                 "environment");
  return missing;
}

// What an application that names no device gets.
std::size_t default_of(const enginehost_engine& engine) {
  const auto& devices = engine.shared->opened().devices;
  for (const std::string* preference :
       {&engine.default_device, &engine.requested_device, &engine.shared->preferred_device()})
    if (const std::size_t i = first_of(devices, *preference); i < devices.size()) return i;
  const auto accelerator = std::ranges::find_if(devices, &Device::is_accelerator);
  return accelerator != devices.end() ? static_cast<std::size_t>(accelerator - devices.begin()) : 0;
}

}  // namespace

Result<std::size_t> chosen_device(const enginehost_engine& engine, const char* wanted) {
  const auto& devices = engine.shared->opened().devices;
  const bool any = wanted == nullptr || *wanted == '\0';
  if (any && !devices.empty()) return default_of(engine);
  const std::size_t found = any ? devices.size() : first_of(devices, wanted);
  if (found == devices.size()) return fail(not_there(any ? "any" : wanted, engine));
  return found;
}

}  // namespace enginehost::sdk
