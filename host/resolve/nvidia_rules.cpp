#include "host/resolve/nvidia_rules.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/version.hpp"
#include "host/resolve/checks.hpp"

namespace enginehost::resolve {
namespace {

struct Toolkit {
  std::string_view version, linux_driver, windows_driver;
};

// The driver packaged with the first general release of each toolkit (GA; 11.0.2 for 11.0), newest first. It
// is the oldest driver known to support the toolkit. NVIDIA bundles no Windows driver with CUDA 13, and its
// table lacks 12.7; there the number of the driver branch is used.
constexpr Toolkit toolkits[] = {
    {"13.1", "590.44.01", "590"},    {"13.0", "580.65.06", "580"},    {"12.9", "575.51.03", "576.02"},
    {"12.8", "570.26", "570.65"},    {"12.7", "565", "565"},          {"12.6", "560.28.03", "560.76"},
    {"12.5", "555.42.02", "555.85"}, {"12.4", "550.54.14", "551.61"}, {"12.3", "545.23.06", "545.84"},
    {"12.2", "535.54.03", "536.25"}, {"12.1", "530.30.02", "531.14"}, {"12.0", "525.60.13", "527.41"},
    {"11.8", "520.61.05", "520.06"}, {"11.7", "515.43.04", "516.01"}, {"11.6", "510.39.01", "511.23"},
    {"11.5", "495.29.05", "496.04"}, {"11.4", "470.42.01", "471.11"}, {"11.3", "465.19.01", "465.89"},
    {"11.2", "460.27.03", "460.82"}, {"11.1", "455.23", "456.38"},    {"11.0", "450.51.05", "451.48"},
    {"10.2", "440.33", "441.22"},    {"10.1", "418.39", "418.96"},    {"10.0", "410.48", "411.31"},
};

}  // namespace

std::string cuda_of_driver(std::string_view driver, bool windows) {
  for (const Toolkit& toolkit : toolkits)
    if (compare_versions(driver, windows ? toolkit.windows_driver : toolkit.linux_driver) >= 0)
      return std::string(toolkit.version);
  return {};
}

std::string native_driver(std::string_view version, bool windows) {
  for (const Toolkit& toolkit : toolkits)
    if (toolkit.version == version)
      return std::string(windows ? toolkit.windows_driver : toolkit.linux_driver);
  return {};
}

std::string minor_version_driver(int toolkit_major, bool windows) {
  switch (toolkit_major) {
    case 11:
      return windows ? "452.39" : "450.80.02";
    case 12:
      return windows ? "528.33" : "525.60.13";
    case 13:
      return windows ? "580" : "580.65.06";
    default:
      return {};
  }
}

namespace {

constexpr std::string_view servers = "sbsa-linux", jetsons = "aarch64-linux";
constexpr std::string_view first_unified_l4t = "38", first_unified_toolkit = "13.0";

std::string kind_of(std::string_view target) {
  if (target == servers) return "an arm64 server (CUDA for sbsa-linux)";
  if (target == jetsons) return "a Jetson (CUDA for aarch64-linux)";
  return "CUDA for " + std::string(target);
}

bool is_unified(const Jetson& jetson) { return compare_versions(jetson.l4t, first_unified_l4t) >= 0; }

// Returns a Jetson's answer. From L4T 38 on a Jetson runs server builds of CUDA 13. NVIDIA does not document
// what builds for older Jetsons do there.
Answer on_jetson(const Jetson& jetson, const manifest::CudaRequirement& cuda) {
  if (cuda.target == servers && compare_versions(cuda.toolkit, first_unified_toolkit) < 0) return Answer::no;
  if (jetson.l4t.empty()) return Answer::unknown;
  if (cuda.target == servers) return is_unified(jetson) ? Answer::yes : Answer::no;
  return is_unified(jetson) ? Answer::unknown : Answer::yes;
}

}  // namespace

std::optional<Jetson> jetson_of(const platform::Platform& machine) {
  const auto& hardware = machine.cuda.hardware;
  if (!hardware.is_known() || !hardware.value().starts_with("tegra")) return std::nullopt;
  constexpr std::string_view before_release = ", L4T ";
  const std::string& text = hardware.value();
  const std::size_t at = text.find(before_release);
  if (at == std::string::npos) return Jetson{};
  const std::size_t begin = at + before_release.size();
  return Jetson{text.substr(begin, text.find(',', begin) - begin)};
}

void check_cuda_target(const manifest::Build& build, const platform::Platform& machine,
                       CheckFindings& findings) {
  if (build.os != "linux" || build.arch != "aarch64" || !build.requires_.cuda) return;
  const manifest::CudaRequirement& cuda = *build.requires_.cuda;
  const auto& hardware = machine.cuda.hardware;
  const auto jetson = jetson_of(machine);
  if (cuda.target.empty()) {
    // Most builds for arm64 are for servers. On a server a missing target is no problem.
    if (jetson)
      findings.note_unknown([&] {
        return unanswered("CUDA for this Jetson",
                          "the manifest does not say for which arm64 machines the build is");
      });
    return;
  }
  const auto requirement = [&] { return kind_of(cuda.target); };
  if (hardware.is_unknown() || (cuda.target != servers && cuda.target != jetsons)) {
    findings.note_unknown([&] {
      return unanswered(requirement(), hardware.is_unknown()
                                           ? hardware.why()
                                           : "this version of EngineHost does not know the target");
    });
    return;
  }
  const Answer answer = jetson ? on_jetson(*jetson, cuda) : cuda.target == servers ? Answer::yes : Answer::no;
  findings.note(answer, "EH-S21", [&] {
    if (answer == Answer::unknown)
      return unanswered(requirement(), jetson->l4t.empty()
                                           ? "the release of Linux for Tegra is unknown"
                                           : "L4T " + jetson->l4t + " takes builds for servers");
    const std::string observed =
        jetson ? "a Jetson (" + hardware.value() + ")"
               : "no Jetson" + (hardware.is_known() ? " (" + hardware.value() + ")" : "");
    Check check = reported(requirement(), observed, hardware.source());
    if (answer == Answer::no)
      check.evidence = {{"required", requirement(), "manifest"}, {"found", observed, hardware.source()}};
    return check;
  });
}

namespace {

using platform::CudaDevice;

// A device that the driver does not offer to this process is not visible, whatever the variable says.
VisibleDevices all_of(const std::vector<CudaDevice>& devices) {
  VisibleDevices visible;
  for (const CudaDevice& device : devices)
    if (device.visible) visible.devices.push_back(&device);
  return visible;
}

VisibleDevices not_certain(const std::vector<CudaDevice>& devices, std::string why) {
  VisibleDevices visible = all_of(devices);
  visible.certain = false;
  visible.why = std::move(why);
  return visible;
}

const CudaDevice* by_index(const std::vector<CudaDevice>& devices, std::int64_t index) {
  const auto found = std::find_if(devices.begin(), devices.end(),
                                  [&](const CudaDevice& device) { return device.index == index; });
  return found != devices.end() ? &*found : nullptr;
}

// Returns the only device whose UUID begins with the prefix; nullptr if there is none or more than one.
const CudaDevice* by_uuid(const std::vector<CudaDevice>& devices, std::string_view prefix) {
  const CudaDevice* found = nullptr;
  for (const CudaDevice& device : devices)
    if (device.uuid.starts_with(prefix)) {
      if (found != nullptr) return nullptr;
      found = &device;
    }
  return found;
}

}  // namespace

VisibleDevices visible_devices(const platform::Cuda& cuda) {
  const std::vector<CudaDevice>& devices = cuda.devices.value();
  const platform::Fact<std::string>& variable = cuda.visible_devices;
  // The driver already applied the variable. Its numbers differ from those of the list, and it may count from
  // the fastest device (CUDA_DEVICE_ORDER).
  if (cuda.init.is_known() || variable.is_absent()) return all_of(devices);
  if (variable.is_unknown())
    return not_certain(devices, "CUDA_VISIBLE_DEVICES is unknown: " + variable.why());
  VisibleDevices visible;
  if (trim(variable.value()).empty()) return visible;
  for (const std::string& part : split(variable.value(), ',')) {
    const std::string entry(trim(part));
    const CudaDevice* device = nullptr;
    if (const auto index = parse_integer(entry)) {
      device = by_index(devices, *index);
    } else if (entry.starts_with("GPU-")) {
      // Reports for other people omit UUIDs.
      if (std::any_of(devices.begin(), devices.end(), [](const CudaDevice& one) { return one.uuid.empty(); }))
        return not_certain(devices,
                           "CUDA_VISIBLE_DEVICES names a UUID, and those of the devices are not known");
      device = by_uuid(devices, entry);
    } else if (entry.starts_with("MIG-")) {
      return not_certain(devices, "CUDA_VISIBLE_DEVICES names a part of a device (MIG)");
    }
    if (device == nullptr) return visible;
    if (std::find(visible.devices.begin(), visible.devices.end(), device) != visible.devices.end()) return {};
    visible.devices.push_back(device);
  }
  return visible;
}

}  // namespace enginehost::resolve
