// The facts about a machine, as a value that can be written to JSON and read back.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "host/platform/fact.hpp"

namespace enginehost::platform {

struct Distribution {
  std::string id, name,
      version;  // "debian", "Debian GNU/Linux 12 (bookworm)", "12"; "macos", "macOS", "14.5"
  bool operator==(const Distribution&) const = default;
  template <class Self, class Visit>
  static void for_each_member(Self& self, Visit&& visit) {
    visit("id", self.id);
    visit("name", self.name);
    visit("version", self.version);
  }
};
struct Libc {
  std::string name, version;  // "glibc" or "musl", "2.36"; on Windows and macOS the fact is absent
  bool operator==(const Libc&) const = default;
  template <class Self, class Visit>
  static void for_each_member(Self& self, Visit&& visit) {
    visit("name", self.name);
    visit("version", self.version);
  }
};
struct Libstdcxx {
  std::string path;             // of the libstdc++.so.6 the loader would find
  std::string glibcxx, cxxabi;  // newest version each defines: "3.4.30", "1.3.13"
  bool operator==(const Libstdcxx&) const = default;
  template <class Self, class Visit>
  static void for_each_member(Self& self, Visit&& visit) {
    visit("path", self.path);
    visit("glibcxx", self.glibcxx);
    visit("cxxabi", self.cxxabi);
  }
};
struct Cpu {
  std::string model;
  std::string level;  // "x86-64-v3"; empty on other architectures
  // Sorted, with Linux's names ("avx2"); the compilers' names "sse3" and "lzcnt" are listed beside Linux's
  // "pni" and "abm". Only features that the system has enabled.
  std::vector<std::string> features;
  int cores = 0;  // available to this process
  bool operator==(const Cpu&) const = default;
  template <class Self, class Visit>
  static void for_each_member(Self& self, Visit&& visit) {
    visit("model", self.model);
    visit("level", self.level);
    visit("features", self.features);
    visit("cores", self.cores);
  }
};
struct Memory {
  std::uint64_t total = 0, available = 0;  // bytes; a container's limit counts
  bool operator==(const Memory&) const = default;
  template <class Self, class Visit>
  static void for_each_member(Self& self, Visit&& visit) {
    visit("total", self.total);
    visit("available", self.available);
  }
};
struct Disk {
  std::string folder;                 // of the cache
  std::uint64_t total = 0, free = 0;  // bytes, what this user may use
  bool noexec = false;
  bool operator==(const Disk&) const = default;
  template <class Self, class Visit>
  static void for_each_member(Self& self, Visit&& visit) {
    visit("folder", self.folder);
    visit("total", self.total);
    visit("free", self.free);
    visit("noexec", self.noexec);
  }
};
struct CudaDevice {
  int index = 0;  // NVML's index; without NVML, CUDA's, after CUDA_VISIBLE_DEVICES
  std::string name, compute_capability, uuid;  // "NVIDIA GeForce RTX 4090", "8.9", "GPU-…"
  std::uint64_t memory = 0;                    // bytes
  bool visible =
      true;  // false: the driver does not show it to this process (CUDA_VISIBLE_DEVICES, a broken node)
  bool operator==(const CudaDevice&) const = default;
  template <class Self, class Visit>
  static void for_each_member(Self& self, Visit&& visit) {
    visit("index", self.index);
    visit("name", self.name);
    visit("compute_capability", self.compute_capability);
    visit("uuid", self.uuid);
    visit("memory", self.memory);
    visit("visible", self.visible);
  }
};
// A CUDA toolkit, cuDNN or ROCm on the machine. Never decides between builds, because a build brings its own
// or names its system libraries.
struct Installed {
  std::string version, path;
  std::string note;  // why it is ignored or what is unusual about it; usually empty
  bool operator==(const Installed&) const = default;
  template <class Self, class Visit>
  static void for_each_member(Self& self, Visit&& visit) {
    visit("version", self.version);
    visit("path", self.path);
    visit("note", self.note);
  }
};
struct Cuda {
  Fact<std::string> driver;       // kernel driver, "535.104.05"
  Fact<std::string> driver_cuda;  // newest CUDA the driver supports, "12.2"
  // In the order in which CUDA numbers them; hidden devices that are known follow.
  Fact<std::vector<CudaDevice>> devices;
  Fact<std::string> visible_devices;  // CUDA_VISIBLE_DEVICES; absent: not set, so all are visible
  Fact<std::vector<Installed>> toolkits, cudnn;
  Fact<std::string> hardware;  // NVIDIA device on the PCI bus ("10de:2684", how many) or none
  Fact<Installed> library;     // libcuda.so.1 the loader would find; note "stub" for a link stub
  Fact<std::string> init;      // the result of cuInit: "0", "803"; the facts that it decided explain it
  bool operator==(const Cuda&) const = default;
  template <class Self, class Visit>
  static void for_each_member(Self& self, Visit&& visit) {
    visit("driver", self.driver);
    visit("driver_cuda", self.driver_cuda);
    visit("devices", self.devices);
    visit("visible_devices", self.visible_devices);
    visit("toolkits", self.toolkits);
    visit("cudnn", self.cudnn);
    visit("hardware", self.hardware);
    visit("library", self.library);
    visit("init", self.init);
  }
};
struct Rocm {
  std::string version;           // "6.2.0"; empty when only devices are known
  std::vector<std::string> gfx;  // "gfx1100", one per device
  bool operator==(const Rocm&) const = default;
  template <class Self, class Visit>
  static void for_each_member(Self& self, Visit&& visit) {
    visit("version", self.version);
    visit("gfx", self.gfx);
  }
};
struct Metal {
  std::string device;  // "Apple M2"
  bool operator==(const Metal&) const = default;
  template <class Self, class Visit>
  static void for_each_member(Self& self, Visit&& visit) {
    visit("device", self.device);
  }
};
struct Conda {
  std::string prefix, name;
  bool operator==(const Conda&) const = default;
  template <class Self, class Visit>
  static void for_each_member(Self& self, Visit&& visit) {
    visit("prefix", self.prefix);
    visit("name", self.name);
  }
};
using Variables = std::vector<std::pair<std::string, std::string>>;

struct Platform {
  Fact<std::string> os;    // "linux", "windows", "macos"
  Fact<std::string> arch;  // "x86_64", "aarch64"; macOS arm64 is "arm64"
  Fact<Distribution> distribution;
  Fact<std::string> kernel;
  Fact<Libc> libc;
  Fact<Libstdcxx> libstdcxx;
  Fact<Cpu> cpu;
  Fact<std::uint64_t> page_size;  // of memory, in bytes: 4096, 16384 or 65536
  Fact<Memory> memory;
  Fact<Disk> disk;
  Cuda cuda;
  Fact<Rocm> rocm;
  Fact<std::string> other_gpus;  // GPUs of AMD and Intel on the PCI bus: "AMD 1002:744c, Intel 8086:56a0"
  Fact<Metal> metal;
  Fact<std::string> vcruntime;  // "14.40.33810"
  Fact<Conda> conda;
  Fact<std::string> container;         // "docker", "podman", "kubernetes", ...
  Fact<std::string> wsl;               // "2"
  Fact<Variables> loader_environment;  // LD_*, CUDA_*, CONDA_PREFIX, NVIDIA_*, as far as they are set
  // System libraries that builds require, and the file that the loader would take; empty: no file. Only
  // requested names are listed: see look_for_libraries().
  Fact<Variables> libraries;
  bool operator==(const Platform&) const = default;
  template <class Self, class Visit>
  static void for_each_member(Self& self, Visit&& visit) {
    visit("os", self.os);
    visit("distribution", self.distribution);
    visit("arch", self.arch);
    visit("kernel", self.kernel);
    visit("libc", self.libc);
    visit("libstdcxx", self.libstdcxx);
    visit("cpu", self.cpu);
    visit("page_size", self.page_size);
    visit("memory", self.memory);
    visit("disk", self.disk);
    visit("cuda", self.cuda);
    visit("rocm", self.rocm);
    visit("other_gpus", self.other_gpus);
    visit("metal", self.metal);
    visit("vcruntime", self.vcruntime);
    visit("conda", self.conda);
    visit("container", self.container);
    visit("wsl", self.wsl);
    visit("loader_environment", self.loader_environment);
    visit("libraries", self.libraries);
  }
};

// Returns the "platform" object of the contract. Every member is {"value","source"}, {"absent":true,"source"}
// or {"unknown":true,"why"}. `anonymous` leaves out UUIDs and replaces the home and name of this process's
// user in every text. Folders below other people's homes lose their name too.
Json to_json(const Platform& platform, bool anonymous = false);

// The inverse, for a whole document {"format":1,"platform":{…}} or its "platform" object. Ignores unknown
// members; missing members stay unknown ("not in the file"). Error: EH-M02 ("document", "member", "problem").
Result<Platform> platform_from_json(const Json& document, std::string_view name);

}  // namespace enginehost::platform
