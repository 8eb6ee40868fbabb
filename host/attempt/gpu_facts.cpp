#include "host/attempt/gpu_facts.hpp"

#include <algorithm>
#include <string>

#include "base/text.hpp"
#include "host/preflight/judgments.hpp"
#include "host/resolve/nvidia_rules.hpp"

namespace enginehost::open {
namespace {

using platform::Cuda;

bool has_no_driver(const Cuda& cuda) {
  return !cuda.driver_cuda.is_known() && !cuda.library.is_known() &&
         (cuda.driver.is_absent() || cuda.driver_cuda.is_absent());
}

// Returns "12.8" for "cu128"; empty for a flavor of another kind.
std::string toolkit_of(std::string_view flavor) {
  if (!flavor.starts_with("cu")) return {};
  const std::string digits(flavor.substr(2));
  if (digits.size() != 3 || !std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; }))
    return {};
  return digits.substr(0, 2) + "." + digits.substr(2);
}

void report_driver(const platform::Platform& platform, const cache::Installed& installed,
                   Diagnosis& diagnosis) {
  const Cuda& cuda = platform.cuda;
  // The version that the engine got from the driver is more reliable.
  const std::string_view found = diagnosis.value("found");
  if (has_no_driver(cuda) && (found.empty() || found == "0" || found == "0.0")) {
    diagnosis.code = "EH-G01";
    diagnosis
        .with("library", platform.os.value() == "windows" ? "nvcuda.dll" : "libcuda.so.1", "the CUDA runtime")
        .with("needed_by", installed.plugin);
    preflight::add_driver_facts(platform, diagnosis);
    return;
  }
  if (cuda.driver.is_known()) diagnosis.with("driver", cuda.driver.value(), cuda.driver.source());
  if (cuda.driver_cuda.is_known())
    diagnosis.with("driver_cuda", cuda.driver_cuda.value(), cuda.driver_cuda.source());
  const std::string toolkit = toolkit_of(installed.flavor);
  if (toolkit.empty()) return;
  const bool windows = platform.os.value() == "windows" || platform.wsl.is_known();
  std::string least = resolve::minor_version_driver(
      static_cast<int>(parse_integer(toolkit.substr(0, 2)).value_or(0)), windows);
  if (least.empty()) least = resolve::native_driver(toolkit, windows);
  diagnosis.with("required", toolkit, "the flavor " + installed.flavor);
  if (!least.empty()) diagnosis.with("minimum_driver", least, "NVIDIA's table");
}

void report_versions(const Cuda& cuda, Diagnosis& diagnosis) {
  if (cuda.driver.is_known()) diagnosis.with("driver", cuda.driver.value(), cuda.driver.source());
  if (cuda.library.is_known() && !cuda.library.value().version.empty())
    diagnosis.with("library_version", cuda.library.value().version, cuda.library.source());
}

// CUDA ends the list at the first invalid entry. An invalid first entry hides every device.
bool hides_all(const std::string& variable) {
  const std::string first(trim(variable.substr(0, variable.find(','))));
  if (first.starts_with("GPU-") || first.starts_with("MIG-")) return false;
  return parse_integer(first).value_or(-1) < 0;
}

void report_visible_devices(const Cuda& cuda, Diagnosis& diagnosis) {
  const auto& variable = cuda.visible_devices;
  if (!variable.is_known() || !diagnosis.value("visible_devices").empty()) return;
  bool hidden = hides_all(variable.value());
  if (cuda.devices.is_known()) {
    const resolve::VisibleDevices visible = resolve::visible_devices(cuda);
    hidden = hidden || (visible.devices.empty() && !cuda.devices.value().empty());
    if (!hidden && visible.certain && visible.devices.size() == cuda.devices.value().size()) return;
  }
  diagnosis.with(hidden ? "visible_devices" : "limited_to", variable.value(), variable.source());
  if (hidden && cuda.devices.is_known() && !cuda.devices.value().empty())
    diagnosis.with("devices", std::to_string(cuda.devices.value().size()), cuda.devices.source());
}

}  // namespace

void add_gpu_facts(const platform::Platform& platform, const cache::Installed& installed,
                   Diagnosis& diagnosis) {
  if (diagnosis.code == "EH-G03")
    report_driver(platform, installed, diagnosis);
  else if (diagnosis.code == "EH-G07")
    report_visible_devices(platform.cuda, diagnosis);
  else if (diagnosis.code == "EH-G09")
    report_versions(platform.cuda, diagnosis);
}

}  // namespace enginehost::open
