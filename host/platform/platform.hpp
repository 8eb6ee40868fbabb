// The facts about a machine, as a value that can be written to JSON and read back.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"

namespace enginehost::platform {

// A three-valued fact: known with its source, absent after looking, or unknown with the reason. Code that
// decides must treat unknown and absent differently: a time-out never means "no GPU". A plain value.
template <class T>
class Fact {
 public:
  enum class State { known, absent, unknown };

  Fact() = default;  // unknown: "not asked"
  static Fact known(T value, std::string source) {
    return {State::known, std::move(value), std::move(source), {}};
  }
  static Fact absent(std::string source) { return {State::absent, {}, std::move(source), {}}; }
  static Fact unknown(std::string why) { return {State::unknown, {}, {}, std::move(why)}; }

  State state() const { return state_; }
  bool is_known() const { return state_ == State::known; }
  bool is_absent() const { return state_ == State::absent; }
  bool is_unknown() const { return state_ == State::unknown; }
  const T& value() const { return value_; }              // a default value unless known
  const std::string& source() const { return source_; }  // known or absent: where it was read or searched for
  const std::string& why() const { return why_; }        // unknown: the reason

  bool operator==(const Fact&) const = default;

 private:
  Fact(State state, T value, std::string source, std::string why)
      : state_(state), value_(std::move(value)), source_(std::move(source)), why_(std::move(why)) {}

  State state_ = State::unknown;
  T value_{};
  std::string source_;
  std::string why_ = "not asked";
};

// Calls visit(name, member) for each member of a part of the platform, in the order of the document.
template <class Part, class Visit>
void for_each_member(Part& part, Visit&& visit) {
  std::apply([&](const auto&... member) { (visit(member.first, part.*member.second), ...); },
             std::remove_const_t<Part>::members);
}

struct Distribution {
  std::string id, name,
      version;  // "debian", "Debian GNU/Linux 12 (bookworm)", "12"; "macos", "macOS", "14.5"
  bool operator==(const Distribution&) const = default;
  static constexpr auto members =
      std::make_tuple(std::pair{"id", &Distribution::id}, std::pair{"name", &Distribution::name},
                      std::pair{"version", &Distribution::version});
};
struct Libc {
  std::string name, version;  // "glibc" or "musl", "2.36"; on Windows and macOS the fact is absent
  bool operator==(const Libc&) const = default;
  static constexpr auto members =
      std::make_tuple(std::pair{"name", &Libc::name}, std::pair{"version", &Libc::version});
};
struct Libstdcxx {
  std::string path;             // of the libstdc++.so.6 the loader would find
  std::string glibcxx, cxxabi;  // newest version each defines: "3.4.30", "1.3.13"
  bool operator==(const Libstdcxx&) const = default;
  static constexpr auto members =
      std::make_tuple(std::pair{"path", &Libstdcxx::path}, std::pair{"glibcxx", &Libstdcxx::glibcxx},
                      std::pair{"cxxabi", &Libstdcxx::cxxabi});
};
struct Cpu {
  std::string model;
  std::string level;  // "x86-64-v3"; empty on other architectures
  // Sorted, with Linux's names ("avx2"); the compilers' names "sse3" and "lzcnt" are listed beside Linux's
  // "pni" and "abm". Only features that the system has enabled.
  std::vector<std::string> features;
  int cores = 0;  // available to this process
  bool operator==(const Cpu&) const = default;
  static constexpr auto members =
      std::make_tuple(std::pair{"model", &Cpu::model}, std::pair{"level", &Cpu::level},
                      std::pair{"features", &Cpu::features}, std::pair{"cores", &Cpu::cores});
};
struct Memory {
  std::uint64_t total = 0, available = 0;  // bytes; a container's limit counts
  bool operator==(const Memory&) const = default;
  static constexpr auto members =
      std::make_tuple(std::pair{"total", &Memory::total}, std::pair{"available", &Memory::available});
};
struct Disk {
  std::string folder;                 // of the cache
  std::uint64_t total = 0, free = 0;  // bytes, what this user may use
  bool noexec = false;
  bool operator==(const Disk&) const = default;
  static constexpr auto members =
      std::make_tuple(std::pair{"folder", &Disk::folder}, std::pair{"total", &Disk::total},
                      std::pair{"free", &Disk::free}, std::pair{"noexec", &Disk::noexec});
};
struct CudaDevice {
  int index = 0;  // NVML's index; without NVML, CUDA's, after CUDA_VISIBLE_DEVICES
  std::string name, compute_capability, uuid;  // "NVIDIA GeForce RTX 4090", "8.9", "GPU-…"
  std::uint64_t memory = 0;                    // bytes
  bool visible =
      true;  // false: the driver does not show it to this process (CUDA_VISIBLE_DEVICES, a broken node)
  bool operator==(const CudaDevice&) const = default;
  static constexpr auto members = std::make_tuple(
      std::pair{"index", &CudaDevice::index}, std::pair{"name", &CudaDevice::name},
      std::pair{"compute_capability", &CudaDevice::compute_capability}, std::pair{"uuid", &CudaDevice::uuid},
      std::pair{"memory", &CudaDevice::memory}, std::pair{"visible", &CudaDevice::visible});
};
// A CUDA toolkit, cuDNN or ROCm on the machine. Never decides between builds, because a build brings its own
// or names its system libraries.
struct Installed {
  std::string version, path;
  std::string note;  // why it is ignored or what is unusual about it; usually empty
  bool operator==(const Installed&) const = default;
  static constexpr auto members =
      std::make_tuple(std::pair{"version", &Installed::version}, std::pair{"path", &Installed::path},
                      std::pair{"note", &Installed::note});
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
  static constexpr auto members = std::make_tuple(
      std::pair{"driver", &Cuda::driver}, std::pair{"driver_cuda", &Cuda::driver_cuda},
      std::pair{"devices", &Cuda::devices}, std::pair{"visible_devices", &Cuda::visible_devices},
      std::pair{"toolkits", &Cuda::toolkits}, std::pair{"cudnn", &Cuda::cudnn},
      std::pair{"hardware", &Cuda::hardware}, std::pair{"library", &Cuda::library},
      std::pair{"init", &Cuda::init});
};
// NVIDIA's module for the running kernel, while it is not loaded.
struct KernelModule {
  std::string file;       // empty: there is none for this kernel
  std::string gpu_is_of;  // the driver that has the GPU instead: "nouveau", "vfio-pci"
  bool secure_boot = false;
  bool operator==(const KernelModule&) const = default;
  static constexpr auto members = std::make_tuple(std::pair{"file", &KernelModule::file},
                                                  std::pair{"gpu_is_of", &KernelModule::gpu_is_of},
                                                  std::pair{"secure_boot", &KernelModule::secure_boot});
};
struct Rocm {
  std::string version;           // "6.2.0"; empty when only devices are known
  std::vector<std::string> gfx;  // "gfx1100", one per device
  std::vector<int> nodes;        // the kernel's number of each device; empty: not reported
  bool operator==(const Rocm&) const = default;
  static constexpr auto members = std::make_tuple(
      std::pair{"version", &Rocm::version}, std::pair{"gfx", &Rocm::gfx}, std::pair{"nodes", &Rocm::nodes});
};
struct Metal {
  std::string device;  // "Apple M2"
  bool operator==(const Metal&) const = default;
  static constexpr auto members = std::make_tuple(std::pair{"device", &Metal::device});
};
struct Conda {
  std::string prefix, name;
  bool operator==(const Conda&) const = default;
  static constexpr auto members =
      std::make_tuple(std::pair{"prefix", &Conda::prefix}, std::pair{"name", &Conda::name});
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
  Fact<KernelModule> nvidia_module;  // absent: it is loaded, or there is no NVIDIA GPU on the PCI bus
  Fact<Rocm> rocm;
  Fact<std::string> other_gpus;  // GPUs of AMD and Intel on the PCI bus: "AMD 1002:744c, Intel 8086:56a0"
  Fact<Metal> metal;
  Fact<std::string> vcruntime;  // "14.40.33810"
  Fact<Conda> conda;
  Fact<std::string> container;         // "docker", "podman", "kubernetes", "flatpak", "snap", ...
  Fact<std::string> wsl;               // "2"
  Fact<std::string> job;               // the scheduler that started this process: "slurm", "pbs", "lsf"
  Fact<Variables> loader_environment;  // LD_*, CUDA_*, NVIDIA_*, OMP_*, …, as far as they are set
  // System libraries that builds require, and the file that the loader would take; empty: no file. Only
  // requested names are listed: see look_for_libraries().
  Fact<Variables> libraries;
  bool operator==(const Platform&) const = default;
  static constexpr auto members = std::make_tuple(
      std::pair{"os", &Platform::os}, std::pair{"distribution", &Platform::distribution},
      std::pair{"arch", &Platform::arch}, std::pair{"kernel", &Platform::kernel},
      std::pair{"libc", &Platform::libc}, std::pair{"libstdcxx", &Platform::libstdcxx},
      std::pair{"cpu", &Platform::cpu}, std::pair{"page_size", &Platform::page_size},
      std::pair{"memory", &Platform::memory}, std::pair{"disk", &Platform::disk},
      std::pair{"cuda", &Platform::cuda}, std::pair{"nvidia_module", &Platform::nvidia_module},
      std::pair{"rocm", &Platform::rocm}, std::pair{"other_gpus", &Platform::other_gpus},
      std::pair{"metal", &Platform::metal}, std::pair{"vcruntime", &Platform::vcruntime},
      std::pair{"conda", &Platform::conda}, std::pair{"container", &Platform::container},
      std::pair{"wsl", &Platform::wsl}, std::pair{"job", &Platform::job},
      std::pair{"loader_environment", &Platform::loader_environment},
      std::pair{"libraries", &Platform::libraries});
};

// Returns the "platform" object of the contract. Every member is {"value","source"}, {"absent":true,"source"}
// or {"unknown":true,"why"}. `anonymous` leaves out UUIDs and replaces the home and name of this process's
// user in every text. Folders below other people's homes lose their name too.
Json to_json(const Platform& platform, bool anonymous = false);

// The inverse, for a whole document {"format":1,"platform":{…}} or its "platform" object. Ignores unknown
// members; missing members stay unknown ("not in the file"). Error: EH-M02 ("document", "member", "problem").
Result<Platform> platform_from_json(const Json& document, std::string_view name);

// The AMD GPUs that a process of ROCm gets, after the variables in `loader_environment`.
struct RocmDevice {
  std::string gfx;        // of the hardware
  std::string counts_as;  // as ROCm's runtime reports it
  std::string variable;   // "HSA_OVERRIDE_GFX_VERSION=10.3.0" if that differs; else empty
};
struct RocmDevices {
  std::vector<RocmDevice> devices;  // those that are visible, in ROCm's order
  std::string hidden_by;            // "ROCR_VISIBLE_DEVICES=\"\"": the last variable that hides some
  std::string invalid;              // "HSA_OVERRIDE_GFX_VERSION=abc": the runtime does not start with it
  std::string unknown;              // why it cannot be judged; empty: all is known
};
// Sources: libhsakmt, topology_sysfs_get_node_props() (HSA_OVERRIDE_GFX_VERSION and, for one node of the
// kernel, HSA_OVERRIDE_GFX_VERSION_N); ROCR-Runtime, amd_filter_device.cpp (ROCR_VISIBLE_DEVICES); clr,
// rocdevice.cpp (HIP_VISIBLE_DEVICES, else CUDA_VISIBLE_DEVICES, both within the former). AMD's "GPU
// isolation techniques" lists the variables.
RocmDevices rocm_devices(const Platform& platform);

// Returns "gfx90a" for 9, 0, 10 (LLVM's names of AMD's processors).
std::string gfx_name(unsigned major, unsigned minor, unsigned stepping);
// Returns the value of HSA_OVERRIDE_GFX_VERSION for a name: "10.3.0" for "gfx1030"; empty for other text.
std::string gfx_version(std::string_view gfx);

// NVIDIA compute capabilities: whether GPU code runs on a device.
// Source: CUDA programming guide, "compute capabilities".
struct Capability {
  int major = 0, minor = 0;
  char suffix = 0;  // 'a': exactly this device, 'f': its family
};
std::optional<Capability> parse_capability(std::string_view text);  // "8.6", "9.0a"

// Machine code (SASS) for `code` runs on devices of the same major version and at least its minor version.
// With suffix "a", and where either side is a Tegra chip, it runs on that device only.
bool sass_runs_on(const Capability& code, const Capability& device);
// Portable code (PTX) can be compiled for every later device; with "a" for that device only, with "f" for its
// major version.
bool ptx_runs_on(const Capability& code, const Capability& device);

// A person's identity, which is removed from reports.
struct Identity {
  std::string home;             // "/home/anna"; "" = none
  std::string user;             // "anna"; "" = not known
  std::string other_home = {};  // from the user database, where HOME names another folder
};

// Returns the identity of this process: HOME and the name that /etc/passwd has for its user id, else LOGNAME
// or USER. On Windows USERPROFILE and the name of the account.
Identity this_user();

// Anonymizes every text of the document. UUIDs of GPUs become "GPU-…" / "MIG-…" and the home becomes "~". The
// name of any home folder (below "home", "homes", "users" or "Users" anywhere; "C:\Users\NAME" in any case)
// and the user's own name as a path element become "user". Names that are system folders everywhere ("bin",
// "root") identify nobody and stay. Members called "uuid" are left out.
Json anonymous(const Json& document, const Identity& identity);

// Prints the facts for people, one aligned line per fact: name, value, and in parentheses where it was read.
// Lists take one line per element. Ends with a newline.
//
//   os                  linux                              (this program)
//   cuda.devices        0: NVIDIA A100, 8.0, 40 GiB        (cuDeviceGet)
//   cuda.driver_cuda    unknown (the driver did not answer in 15 s)
//   metal               none                               (not macOS)
std::string describe(const Platform& platform);

}  // namespace enginehost::platform
