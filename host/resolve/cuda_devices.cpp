#include "host/resolve/cuda.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/version.hpp"
#include "host/resolve/checks.hpp"

namespace enginehost::resolve {
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

void check_cuda_target(const manifest::Build& build, const platform::Platform& machine, Checks& checks) {
  if (build.os != "linux" || build.arch != "aarch64" || !build.requires_.cuda) return;
  const manifest::CudaRequirement& cuda = *build.requires_.cuda;
  const auto& hardware = machine.cuda.hardware;
  const auto jetson = jetson_of(machine);
  const auto unknown = [&](const std::string& why) { note_unknown(checks, kind_of(cuda.target), why); };
  if (cuda.target.empty()) {
    // Most builds for arm64 are for servers. On a server a missing target is no problem.
    if (jetson)
      note_unknown(checks, "CUDA for this Jetson",
                   "the manifest does not say for which arm64 machines the build is");
    return;
  }
  if (hardware.is_unknown()) return unknown(hardware.why());
  if (cuda.target != servers && cuda.target != jetsons)
    return unknown("this version of EngineHost does not know the target");
  const Answer answer = jetson ? on_jetson(*jetson, cuda) : cuda.target == servers ? Answer::yes : Answer::no;
  if (answer == Answer::unknown)
    return unknown(jetson->l4t.empty() ? "the release of Linux for Tegra is unknown"
                                       : "L4T " + jetson->l4t + " takes builds for servers");
  const std::string observed = jetson
                                   ? "a Jetson (" + hardware.value() + ")"
                                   : "no Jetson" + (hardware.is_known() ? " (" + hardware.value() + ")" : "");
  note(checks, answer, Code::other_kind_of_arm64_machine,
       compared(kind_of(cuda.target), observed, hardware.source(), kind_of(cuda.target)));
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
