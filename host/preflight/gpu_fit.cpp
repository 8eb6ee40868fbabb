#include "host/preflight/judgments.hpp"

#include <algorithm>
#include <set>

#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/platform/platform.hpp"

namespace enginehost::preflight {
namespace {

using platform::CudaDevice;

bool runs_on(const binary::GpuCode::Entry& code, const CudaDevice& device) {
  const auto compiled = platform::parse_capability(code.arch);
  const auto capability = platform::parse_capability(device.compute_capability);
  if (!compiled || !capability) return true;  // a device that cannot be compared counts as suitable
  return code.kind == "ptx" ? platform::ptx_runs_on(*compiled, *capability)
                            : platform::sass_runs_on(*compiled, *capability);
}

}  // namespace

void judge_gpu_code(const Spec& spec, const std::vector<std::string>& files,
                    std::vector<Diagnosis>& warnings) {
  if (spec.platform == nullptr || !spec.platform->cuda.devices.is_known()) return;
  std::vector<const CudaDevice*> devices;
  for (const CudaDevice& device : spec.platform->cuda.devices.value())
    if (device.visible) devices.push_back(&device);
  if (devices.empty()) return;
  std::set<std::string> held;
  std::string first;
  for (const std::string& file : files) {
    const auto code = binary::gpu_code(path_of(file));
    // An incomplete list cannot show that something is missing.
    if (!code) return;
    if (code->entries.empty()) continue;
    if (!code->note.empty()) return;
    if (first.empty()) first = file;
    for (const auto& entry : code->entries) {
      if (std::any_of(devices.begin(), devices.end(),
                      [&](const CudaDevice* device) { return runs_on(entry, *device); }))
        return;
      held.insert(entry.arch + (entry.kind == "ptx" ? "+PTX" : ""));
    }
  }
  if (held.empty()) return;
  Diagnosis diagnosis = diagnose("EH-G05");
  diagnosis.with("file", first)
      .with("sass", join({held.begin(), held.end()}, " "), ".nv_fatbin of the build's files");
  for (const CudaDevice* device : devices)
    diagnosis.with("device", device->name, spec.platform->cuda.devices.source())
        .with("compute_capability", device->compute_capability, spec.platform->cuda.devices.source());
  warnings.push_back(std::move(diagnosis));
}

}  // namespace enginehost::preflight
