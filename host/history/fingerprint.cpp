#include <algorithm>

#include "base/text.hpp"
#include "host/history/store.hpp"

namespace enginehost::history {
namespace {

using platform::Fact;

// An unknown fact leaves its part out: a driver that did not respond in time does not mean that the machine
// changed.
template <class T, class Text>
void add(Fingerprint& parts, const char* name, const Fact<T>& fact, Text text) {
  if (fact.is_known()) parts.emplace_back(name, text(fact.value()));
  if (fact.is_absent()) parts.emplace_back(name, "none");
}

std::string itself(const std::string& text) { return text; }

}  // namespace

Fingerprint host_fingerprint(const platform::Platform& platform) {
  Fingerprint parts;
  add(parts, "operating system", platform.os, itself);
  add(parts, "processor architecture", platform.arch, itself);
  add(parts, "kernel", platform.kernel, itself);
  add(parts, "C library", platform.libc,
      [](const platform::Libc& libc) { return libc.name + " " + libc.version; });
  add(parts, "C++ runtime", platform.libstdcxx, [](const platform::Libstdcxx& runtime) {
    return runtime.path + " " + runtime.glibcxx + " " + runtime.cxxabi;
  });
  add(parts, "processor", platform.cpu,
      [](const platform::Cpu& cpu) { return cpu.model + ": " + join(cpu.features, " "); });
  add(parts, "NVIDIA driver", platform.cuda.driver, itself);
  add(parts, "CUDA of the driver", platform.cuda.driver_cuda, itself);
  add(parts, "driver library", platform.cuda.library, [](const platform::Installed& library) {
    return library.path + " " + library.version + " " + library.note;
  });
  add(parts, "GPUs", platform.cuda.devices, [](const std::vector<platform::CudaDevice>& devices) {
    std::vector<std::string> texts;
    for (const platform::CudaDevice& device : devices)
      texts.push_back(device.name + " " + device.compute_capability + " " + device.uuid);
    return join(texts, ", ");
  });
  add(parts, "visible GPUs", platform.cuda.visible_devices, itself);
  add(parts, "ROCm", platform.rocm,
      [](const platform::Rocm& rocm) { return rocm.version + " " + join(rocm.gfx, " "); });
  add(parts, "loader environment", platform.loader_environment, [](const platform::Variables& variables) {
    std::vector<std::string> texts;
    for (const auto& [name, value] : variables) texts.push_back(name + "=" + value);
    std::sort(texts.begin(), texts.end());
    return join(texts, " ");
  });
  add(parts, "cache folder allows code", platform.disk,
      [](const platform::Disk& disk) { return std::string(disk.noexec ? "no" : "yes"); });
  return parts;
}

}  // namespace enginehost::history
