// Machines made in code, and the catalog that they are decided with.
#pragma once
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "host/manifest/repository.hpp"
#include "host/resolve/plan.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::resolve {

using platform::CudaDevice;
using platform::Fact;
using platform::Platform;

inline const std::string here = "test";

inline Platform linux_machine(const std::string& glibc, const std::string& glibcxx) {
  Platform machine;
  machine.os = Fact<std::string>::known("linux", "uname");
  machine.arch = Fact<std::string>::known("x86_64", "uname");
  machine.libc = Fact<platform::Libc>::known({"glibc", glibc}, "gnu_get_libc_version");
  machine.libstdcxx =
      Fact<platform::Libstdcxx>::known({"/usr/lib/libstdc++.so.6", glibcxx, "1.3.13"}, "verdef");
  machine.cpu =
      Fact<platform::Cpu>::known({"a processor", "x86-64-v3", {"avx", "avx2", "fma", "sse4_2"}, 8}, "cpuid");
  machine.memory =
      Fact<platform::Memory>::known({std::uint64_t{32} << 30, std::uint64_t{16} << 30}, "/proc/meminfo");
  machine.cuda.driver = Fact<std::string>::absent("/proc/driver/nvidia/version");
  machine.cuda.driver_cuda = Fact<std::string>::absent("libcuda.so.1 was not found");
  machine.cuda.devices = Fact<std::vector<CudaDevice>>::absent("libcuda.so.1 was not found");
  machine.cuda.visible_devices = Fact<std::string>::absent("CUDA_VISIBLE_DEVICES");
  machine.cuda.toolkits = Fact<std::vector<platform::Installed>>::absent("/usr/local");
  machine.cuda.hardware = Fact<std::string>::absent("/sys/bus/pci");
  machine.rocm = Fact<platform::Rocm>::absent("/opt/rocm");
  machine.metal = Fact<platform::Metal>::absent("os");
  machine.vcruntime = Fact<std::string>::absent("os");
  machine.container = Fact<std::string>::absent("/.dockerenv");
  machine.wsl = Fact<std::string>::absent("/proc/version");
  return machine;
}

inline Platform windows_machine() {
  Platform machine = linux_machine("", "");
  machine.os = Fact<std::string>::known("windows", "GetVersion");
  machine.libc = Fact<platform::Libc>::absent("os");
  machine.libstdcxx = Fact<platform::Libstdcxx>::absent("os");
  machine.vcruntime = Fact<std::string>::known("14.36.32532", "vcruntime140.dll");
  return machine;
}

inline Platform mac_machine() {
  Platform machine = linux_machine("", "");
  machine.os = Fact<std::string>::known("macos", "uname");
  machine.arch = Fact<std::string>::known("arm64", "uname");
  machine.libc = Fact<platform::Libc>::absent("os");
  machine.libstdcxx = Fact<platform::Libstdcxx>::absent("os");
  machine.distribution = Fact<platform::Distribution>::known({"macos", "macOS", "14.5"}, "sw_vers");
  machine.metal = Fact<platform::Metal>::known({"Apple M2"}, "MTLCopyAllDevices");
  return machine;
}

inline Platform musl_machine() {
  Platform machine = linux_machine("", "3.4.32");
  machine.libc = Fact<platform::Libc>::known({"musl", "1.2.5"}, "/lib/ld-musl-x86_64.so.1");
  return machine;
}

// Adds an NVIDIA driver and devices, given as name and compute capability.
inline Platform with_gpus(Platform machine, const std::string& driver, const std::string& cuda,
                          const std::vector<std::pair<std::string, std::string>>& gpus) {
  std::vector<CudaDevice> devices;
  for (const auto& [name, capability] : gpus) {
    CudaDevice device;
    device.index = static_cast<int>(devices.size());
    device.name = name;
    device.compute_capability = capability;
    device.uuid = "GPU-" + std::to_string(device.index) + "abc";
    device.memory = std::uint64_t{8} << 30;
    devices.push_back(device);
  }
  machine.cuda.driver = Fact<std::string>::known(driver, "/proc/driver/nvidia/version");
  machine.cuda.driver_cuda = Fact<std::string>::known(cuda, "cuDriverGetVersion");
  machine.cuda.devices = Fact<std::vector<CudaDevice>>::known(devices, "cuDeviceGetAttribute");
  machine.cuda.hardware = Fact<std::string>::known("10de:2684", "/sys/bus/pci");
  return machine;
}

inline Platform with_visible(Platform machine, const std::string& value) {
  machine.cuda.visible_devices = Fact<std::string>::known(value, "CUDA_VISIBLE_DEVICES");
  return machine;
}

inline const Platform ubuntu20 = linux_machine("2.31", "3.4.28"), ubuntu22 = linux_machine("2.35", "3.4.30"),
                      centos7 = linux_machine("2.17", "3.4.19");

// A machine of tests/profiles.
inline Platform recorded(const std::string& name) {
  const std::string file = test::source_path("/tests/profiles/") + name + ".json";
  const auto text = read_file(file);
  const auto document = text ? parse_json(*text, file) : Result<Json>(Json());
  auto machine = platform::platform_from_json(*document, file);
  if (!machine) ADD_FAILURE() << file;
  return machine ? *machine : Platform();
}

inline const manifest::Catalog& catalog() {
  static const manifest::Catalog read = [] {
    manifest::Catalog result;
    for (const char* engine : {"pytorch", "onnxruntime", "reference"}) {
      const std::string file = test::source_path("/tests/resolve/catalog/") + engine + ".json";
      const auto text = read_file(file);
      const auto document = text ? parse_json(*text, file) : Result<Json>(Json());
      auto parsed = manifest::read_manifest(*document, "/repository", file);
      if (!parsed) {
        ADD_FAILURE() << file << ": " << parsed.error().value(Key::member) << " "
                      << parsed.error().value(Key::problem);
        continue;
      }
      merge(result, *parsed);
    }
    return result;
  }();
  return read;
}

inline constexpr std::int64_t now = 1'795'000'000;

inline Plan plan_for(const Platform& machine, const Request& request, const history::History& history = {}) {
  return decide(machine, catalog(), history, request, now);
}
inline Plan plan_for(const Platform& machine, const std::string& engine = "pytorch") {
  Request request;
  request.engine = engine;
  return plan_for(machine, request);
}

// "2.8.0-cu129", without engine and system; "" when nothing is ranked.
inline std::string short_name(const Candidate& candidate) {
  return candidate.build->version + "-" + candidate.build->flavor;
}
inline std::string chosen(const Plan& plan) {
  return plan.candidates.empty() || plan.candidates[0].rank != 1 ? "" : short_name(plan.candidates[0]);
}
inline std::vector<std::string> ranked(const Plan& plan) {
  std::vector<std::string> names;
  for (const Candidate& candidate : plan.candidates)
    if (candidate.rank != 0) names.push_back(short_name(candidate));
  return names;
}
inline const Candidate* find(const Plan& plan, const std::string& name, const std::string& os = "linux") {
  for (const Candidate& candidate : plan.candidates)
    if (short_name(candidate) == name && candidate.build->os == os) return &candidate;
  return nullptr;
}
// The code of the first check that refuses; "" for a build that fits.
inline std::string code_of(const Plan& plan, const std::string& name, const std::string& os = "linux") {
  const Candidate* candidate = find(plan, name, os);
  if (candidate == nullptr) return "not there";
  for (const Check& check : candidate->checks)
    if (check.result == Answer::no) return std::string(text_of(check.code));
  return "";
}

}  // namespace enginehost::resolve
