#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>
#if defined(__GLIBC__) || __has_include(<gnu/libc-version.h>)
#include <gnu/libc-version.h>
#endif
#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "host/binary/binary.hpp"
#include "host/platform/parts.hpp"

namespace enginehost::platform {

Fact<std::string> detect_os() { return Fact<std::string>::known("linux", "this program"); }

// The process's architecture rather than the kernel's, because engines are loaded into the process.
Fact<std::string> detect_arch() {
#if defined(__x86_64__)
  return Fact<std::string>::known("x86_64", "this program");
#elif defined(__aarch64__)
  return Fact<std::string>::known("aarch64", "this program");
#else
  utsname names{};
  if (::uname(&names) != 0) return Fact<std::string>::unknown("uname failed");
  return Fact<std::string>::known(names.machine, "uname");
#endif
}

Fact<std::string> detect_kernel(const Root& root) {
  if (!root.is_this_machine()) {
    if (auto release = root.read("/proc/sys/kernel/osrelease"))
      return Fact<std::string>::known(std::move(*release), "/proc/sys/kernel/osrelease");
    return Fact<std::string>::unknown("/proc/sys/kernel/osrelease cannot be read");
  }
  utsname names{};
  if (::uname(&names) != 0) return Fact<std::string>::unknown("uname failed");
  return Fact<std::string>::known(names.release, "uname");
}

// os-release(5): shell assignments with optional quotes; /usr/lib has the file when /etc has none.
Fact<Distribution> detect_distribution(const Root& root) {
  for (const char* file : {"/etc/os-release", "/usr/lib/os-release"}) {
    const auto text = root.read(file);
    if (!text) continue;
    Distribution found;
    for (const std::string& line : split(*text, '\n')) {
      const std::size_t equals = line.find('=');
      if (equals == std::string::npos) continue;
      const std::string_view name = trim(std::string_view(line).substr(0, equals));
      std::string_view value = trim(std::string_view(line).substr(equals + 1));
      if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
          value.back() == value.front())
        value = value.substr(1, value.size() - 2);
      if (name == "ID") found.id = value;
      if (name == "PRETTY_NAME") found.name = value;
      if (name == "NAME" && found.name.empty()) found.name = value;
      if (name == "VERSION_ID") found.version = value;
    }
    if (found.id.empty()) found.id = "linux";  // the default of os-release(5)
    return Fact<Distribution>::known(std::move(found), file);
  }
  return Fact<Distribution>::unknown("neither /etc/os-release nor /usr/lib/os-release can be read");
}

namespace {

// musl's loader contains its version as a separate string ("Version 1.2.4" when printed). Reading the file
// avoids starting the loader as a child process.
std::string musl_version(const std::filesystem::path& loader) {
  const auto bytes = read_file(loader, 4u << 20);
  if (!bytes) return {};
  for (std::size_t at = bytes->find(std::string_view("\0001.", 3)); at != std::string::npos;
       at = bytes->find(std::string_view("\0001.", 3), at + 1)) {
    const std::size_t begin = at + 1, end = bytes->find('\0', begin);
    if (end == std::string::npos || end - begin < 5 || end - begin > 12) continue;
    const std::string text = bytes->substr(begin, end - begin);
    int dots = 0;
    bool plain = std::isdigit(static_cast<unsigned char>(text.back())) != 0;
    for (const char c : text) {
      dots += c == '.';
      plain = plain && (c == '.' || (c >= '0' && c <= '9'));
    }
    if (plain && dots == 2) return text;
  }
  return {};
}

std::string musl_loader(const Root& root) {
  for (const std::string& name : root.list("/lib"))
    if (matches_pattern(name, "ld-musl-*.so.1")) return "/lib/" + name;
  return {};
}

bool has_glibc_loader(const Root& root) {
  for (const char* loader : {"/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"})
    if (root.exists(loader)) return true;
  return false;
}

}  // namespace

Fact<Libc> detect_libc(const Root& root) {
#if defined(__GLIBC__)
  // This glibc program runs, so this machine has glibc; another root may be a musl system.
  const bool musl = !root.is_this_machine() && !has_glibc_loader(root);
#else
  const bool musl = true;
#endif
  if (musl)
    if (const std::string loader = musl_loader(root); !loader.empty()) {
      const auto real = root.resolve(loader);
      return Fact<Libc>::known({"musl", real ? musl_version(root.on_disk(*real)) : ""}, loader);
    }
#if defined(__GLIBC__)
  return Fact<Libc>::known({"glibc", ::gnu_get_libc_version()}, "gnu_get_libc_version");
#else
  return Fact<Libc>::unknown("neither glibc nor musl was recognized");
#endif
}

namespace {

// The newest "PREFIX1.2.3" among version names; "GLIBCXX_TUNE" and the like are no versions.
std::string newest(const std::vector<std::string>& names, std::string_view prefix) {
  std::string best;
  for (const std::string_view name : names) {
    if (!name.starts_with(prefix)) continue;
    const std::string version(name.substr(prefix.size()));
    if (version.empty() || version.find_first_not_of("0123456789.") != std::string::npos) continue;
    if (best.empty() || compare_versions(version, best) > 0) best = version;
  }
  return best;
}

}  // namespace

Fact<Libstdcxx> detect_libstdcxx(const Root& root, const LibrarySearch& libraries) {
  const auto library = libraries.find("libstdc++.so.6");
  if (!library) return Fact<Libstdcxx>::absent(libraries.places());
  const auto info = binary::read_binary(root.on_disk(library->real_path));
  if (!info) return Fact<Libstdcxx>::unknown(library->path + " cannot be read");
  Libstdcxx found{library->path, newest(info->version_definitions, "GLIBCXX_"),
                  newest(info->version_definitions, "CXXABI_")};
  if (found.glibcxx.empty()) return Fact<Libstdcxx>::unknown(library->path + " defines no GLIBCXX versions");
  return Fact<Libstdcxx>::known(std::move(found), library->source);
}

namespace {

int usable_cores() {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  return ::sched_getaffinity(0, sizeof usable, &usable) == 0 ? CPU_COUNT(&usable) : 0;
}

#if defined(__x86_64__)

Cpu ask_processor() {
  Cpu cpu = x86_cpu(cpuid_of_this_processor());
  cpu.model = trim(processor_brand());
  return cpu;
}
constexpr const char* cpu_source = "cpuid";

#elif defined(__aarch64__)

// The bits of AT_HWCAP and AT_HWCAP2 (Linux, arch/arm64/include/uapi/asm/hwcap.h) for which builds are made.
Cpu ask_processor() {
  struct Feature {
    const char* name;
    int bit;
  };
  static constexpr Feature first[] = {{"fp", 0},       {"asimd", 1},    {"aes", 3},       {"pmull", 4},
                                      {"sha1", 5},     {"sha2", 6},     {"crc32", 7},     {"atomics", 8},
                                      {"fphp", 9},     {"asimdhp", 10}, {"asimdrdm", 12}, {"lrcpc", 15},
                                      {"asimddp", 20}, {"sha512", 21},  {"sve", 22}};
  static constexpr Feature second[] = {{"sve2", 1},  {"svei8mm", 9}, {"svebf16", 12},
                                       {"i8mm", 13}, {"bf16", 14},   {"sme", 23}};
  Cpu cpu;
  for (const Feature& feature : first)
    if ((::getauxval(AT_HWCAP) >> feature.bit & 1u) != 0) cpu.features.emplace_back(feature.name);
  for (const Feature& feature : second)
    if ((::getauxval(AT_HWCAP2) >> feature.bit & 1u) != 0) cpu.features.emplace_back(feature.name);
  std::sort(cpu.features.begin(), cpu.features.end());
  return cpu;
}
constexpr const char* cpu_source = "AT_HWCAP";

#else

Cpu ask_processor() { return {}; }
constexpr const char* cpu_source = "this program";

#endif

}  // namespace

Fact<Cpu> detect_cpu() {
  // The processor does not change while a process runs, but the cores it may use can.
  static const Cpu& processor = *new Cpu(ask_processor());
  Cpu cpu = processor;
  cpu.cores = usable_cores();
  return Fact<Cpu>::known(std::move(cpu), cpu_source);
}

namespace {

// "MemTotal:       16384 kB", "inactive_file 4096": the number after the name, 0 when there is none.
std::uint64_t number_after(std::string_view text, std::string_view name) {
  for (const std::string& line : split(text, '\n')) {
    if (!std::string_view(line).starts_with(name)) continue;
    std::string_view rest = trim(std::string_view(line).substr(name.size()));
    rest = rest.substr(0, rest.find_first_not_of("0123456789"));
    return static_cast<std::uint64_t>(parse_integer(rest).value_or(0));
  }
  return 0;
}

struct Limit {
  std::uint64_t limit = 0, used = 0;
  std::string source;
};

// Reads one folder of a control group hierarchy. Version 1 writes "no limit" as a huge number, version 2 as
// "max".
void apply_limit(const Root& root, const std::string& folder, const char* limit_name, const char* usage_name,
                 Limit& tightest) {
  const auto text = root.read(folder + "/" + limit_name);
  if (!text) return;
  const auto limit = parse_integer(trim(*text));
  if (!limit || static_cast<std::uint64_t>(*limit) >= tightest.limit) return;
  tightest.limit = static_cast<std::uint64_t>(*limit);
  tightest.source = folder + "/" + limit_name;
  tightest.used = static_cast<std::uint64_t>(
      parse_integer(trim(root.read(folder + "/" + usage_name).value_or(""))).value_or(0));
  // The page cache counts as used but can be reclaimed.
  const std::string statistics = root.read(folder + "/memory.stat").value_or("");
  const std::uint64_t reclaimable =
      std::max(number_after(statistics, "inactive_file "), number_after(statistics, "total_inactive_file "));
  tightest.used -= std::min(tightest.used, reclaimable);
}

// The process's own group and each of its parents may have a limit. Inside a container the path in
// /proc/self/cgroup may be the host's; then only the top of the mount is visible, which is the container's
// own group.
Limit tightest_limit(const Root& root, std::uint64_t total) {
  Limit tightest;
  tightest.limit = total;  // a looser limit has no effect
  for (const std::string& line : split(root.read("/proc/self/cgroup").value_or(""), '\n')) {
    const std::vector<std::string> parts = split(line, ':');  // 0::/user.slice  or  4:memory:/docker/…
    if (parts.size() < 3) continue;
    const bool second = parts[0] == "0" && parts[1].empty();
    const std::vector<std::string> controllers = split(parts[1], ',');
    if (!second && std::find(controllers.begin(), controllers.end(), "memory") == controllers.end()) continue;
    const std::string mount = second ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    for (std::string group = parts[2];; group.resize(group.find_last_of('/'))) {
      while (!group.empty() && group.back() == '/') group.pop_back();
      apply_limit(root, mount + group, second ? "memory.max" : "memory.limit_in_bytes",
                  second ? "memory.current" : "memory.usage_in_bytes", tightest);
      if (group.empty() || group.front() != '/') break;
    }
  }
  return tightest;
}

}  // namespace

Fact<Memory> detect_memory(const Root& root) {
  const auto text = root.read("/proc/meminfo");
  if (!text) return Fact<Memory>::unknown("/proc/meminfo cannot be read");
  Memory memory;
  memory.total = number_after(*text, "MemTotal:") * 1024;
  memory.available = number_after(*text, "MemAvailable:") * 1024;
  std::string source = "/proc/meminfo";
  if (const Limit limit = tightest_limit(root, memory.total); limit.limit < memory.total) {
    memory.total = limit.limit;
    memory.available = std::min(memory.available, limit.limit - std::min(limit.limit, limit.used));
    source += ", limited by " + limit.source;
  }
  return Fact<Memory>::known(memory, std::move(source));
}

namespace {

bool is_set(const char* name) { return !environment_variable(name).value_or("").empty(); }

}  // namespace

// Checks the most specific marks first, because a pod's containers also carry the marks of the runtime below.
Fact<std::string> detect_container(const Root& root) {
  using Found = Fact<std::string>;
  // flatpak-metadata(5)
  if (root.exists("/.flatpak-info")) return Found::known("flatpak", "/.flatpak-info");
  // A snap without confinement uses the files of the system (GLib, gio/gsandbox.c).
  if (const std::string snap = environment_variable("SNAP").value_or(""); snap.starts_with('/')) {
    const std::string file = snap + "/meta/snap.yaml", text = "\n" + root.read(file).value_or("");
    if (text.size() > 1 && text.find("\nconfinement: classic") == std::string::npos)
      return Found::known("snap", "SNAP, " + file);
  }
  if (is_set("KUBERNETES_SERVICE_HOST")) return Found::known("kubernetes", "KUBERNETES_SERVICE_HOST");
  for (const char* name : {"APPTAINER_CONTAINER", "SINGULARITY_CONTAINER"})
    if (is_set(name)) return Found::known("apptainer", name);
  if (root.exists("/.singularity.d")) return Found::known("apptainer", "/.singularity.d");
  if (root.exists("/run/.containerenv")) return Found::known("podman", "/run/.containerenv");
  if (root.exists("/.dockerenv")) return Found::known("docker", "/.dockerenv");
  if (const auto manager = root.read("/run/systemd/container"); manager && !manager->empty())
    return Found::known(*manager, "/run/systemd/container");
  const std::string groups = root.read("/proc/1/cgroup").value_or("");
  static constexpr std::pair<std::string_view, const char*> marks[] = {{"kubepods", "kubernetes"},
                                                                       {"/docker", "docker"},
                                                                       {"docker-", "docker"},
                                                                       {"libpod", "podman"},
                                                                       {"/lxc/", "lxc"}};
  for (const auto& [mark, name] : marks)
    if (groups.find(mark) != std::string::npos) return Found::known(name, "/proc/1/cgroup");
  return Found::absent(
      "/.flatpak-info, /.dockerenv, /run/.containerenv, /run/systemd/container, /proc/1/cgroup, environment");
}

// WSL 2 runs Microsoft's build of a real kernel ("5.15.153.1-microsoft-standard-WSL2"). WSL 1 only translates
// system calls and reports "4.4.0-19041-Microsoft". A container on WSL 2 has the same kernel and the same
// GPU.
Fact<std::string> detect_wsl(const Fact<std::string>& kernel) {
  if (!kernel.is_known()) return Fact<std::string>::unknown("the kernel's release is not known");
  if (to_lower(kernel.value()).find("microsoft") == std::string::npos)
    return Fact<std::string>::absent("kernel release " + kernel.value());
  const bool first = kernel.value().find("-Microsoft") != std::string::npos;
  return Fact<std::string>::known(first ? "1" : "2", "kernel release " + kernel.value());
}

Fact<Rocm> detect_rocm(const Root& root) {
  Rocm found;
  std::vector<std::string> sources;
  if (const auto version = root.read("/opt/rocm/.info/version")) {
    // "6.2.0-66": the part after the dash is a build number.
    found.version = std::string(trim(*version)).substr(0, trim(*version).find('-'));
    sources.push_back("/opt/rocm/.info/version");
  }
  const std::string nodes = "/sys/class/kfd/kfd/topology/nodes";
  std::vector<std::string> numbers = root.list(nodes);
  std::sort(numbers.begin(), numbers.end(), [](const std::string& left, const std::string& right) {
    return parse_integer(left).value_or(0) < parse_integer(right).value_or(0);
  });
  for (const std::string& node : numbers) {
    for (const std::string& line : split(root.read(nodes + "/" + node + "/properties").value_or(""), '\n')) {
      constexpr std::string_view name = "gfx_target_version ";
      if (!std::string_view(line).starts_with(name)) continue;
      const auto version = parse_integer(trim(std::string_view(line).substr(name.size())));
      if (!version || *version <= 0) continue;  // the node is a processor
      // 110000: major, two digits minor, two digits stepping
      const auto parts = static_cast<unsigned>(*version);
      found.gfx.push_back(gfx_name(parts / 10000, parts / 100 % 100, parts % 100));
      found.nodes.push_back(static_cast<int>(parse_integer(node).value_or(0)));
    }
  }
  if (!found.gfx.empty()) sources.push_back(nodes);
  if (sources.empty()) return Fact<Rocm>::absent("/opt/rocm/.info/version, " + nodes);
  return Fact<Rocm>::known(std::move(found), join(sources, ", "));
}

namespace {

// The name that the module has in modules.dep of each distribution: Debian's is nvidia-current.ko.
bool is_nvidia_module(std::string_view path) {
  const std::string_view name = path.substr(path.find_last_of('/') + 1);
  return name.starts_with("nvidia.ko") || name.starts_with("nvidia-current.ko");
}

}  // namespace

// Sources: depmod(8) for modules.dep; the kernel's efivarfs.rst: four bytes of attributes come before the
// value; UEFI 2.10, 3.3 "Globally Defined Variables", SecureBoot.
Fact<KernelModule> detect_nvidia_module(const Root& root, const Fact<std::string>& kernel) {
  if (root.exists("/sys/module/nvidia") || root.exists("/proc/driver/nvidia/version"))
    return Fact<KernelModule>::absent("/sys/module/nvidia, /proc/driver/nvidia/version");
  if (graphics_devices(root, "10de").empty()) return Fact<KernelModule>::absent(pci_folder);
  KernelModule module;
  for (const std::string& address : root.list(pci_folder)) {
    const std::string device = std::string(pci_folder) + "/" + address;
    if (root.read(device + "/vendor").value_or("") != "0x10de" ||
        !is_graphics_class(root.read(device + "/class").value_or("")))
      continue;
    if (const auto driver = root.resolve(device + "/driver"))
      module.gpu_is_of = driver->substr(driver->find_last_of('/') + 1);
  }
  // A container has the kernel of its host, but not its modules.
  const std::string folder = "/lib/modules/" + kernel.value(), list = folder + "/modules.dep";
  const std::string names = root.read_start(list, 8u << 20);
  if (names.empty()) return Fact<KernelModule>::unknown(list + " cannot be read");
  for (const std::string& line : split(names, '\n')) {
    const std::string path = line.substr(0, line.find(':'));
    if (module.file.empty() && is_nvidia_module(path)) module.file = folder + "/" + path;
  }
  const std::string secure_boot =
      root.read_start("/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c", 5);
  module.secure_boot = secure_boot.size() == 5 && secure_boot[4] == 1;
  return Fact<KernelModule>::known(std::move(module), list);
}

Fact<std::string> detect_other_gpus(const Root& root, const Fact<std::string>& wsl) {
  std::vector<std::string> names;
  for (const auto& [maker, vendor] : {std::pair("AMD ", "1002"), std::pair("Intel ", "8086")})
    for (const std::string& device : graphics_devices(root, vendor)) names.push_back(maker + device);
  if (!names.empty()) return Fact<std::string>::known(join(names, ", "), pci_folder);
  if (wsl.is_known() && root.exists("/dev/dxg"))
    return Fact<std::string>::unknown("WSL shows GPUs through /dev/dxg, not on the PCI bus");
  if (!root.is_folder(pci_folder))
    return Fact<std::string>::unknown(std::string(pci_folder) + " is not there");
  return Fact<std::string>::absent(pci_folder);
}

void detect_own_facts(Platform& platform, const Root& root, const LibrarySearch& libraries) {
  const long page = ::sysconf(_SC_PAGESIZE);
  platform.page_size =
      page > 0 ? Fact<std::uint64_t>::known(static_cast<std::uint64_t>(page), "sysconf(_SC_PAGESIZE)")
               : Fact<std::uint64_t>::unknown("sysconf(_SC_PAGESIZE) failed");
  platform.libc = detect_libc(root);
  platform.libstdcxx = detect_libstdcxx(root, libraries);
  platform.container = detect_container(root);
  platform.wsl = detect_wsl(platform.kernel);
  platform.rocm = detect_rocm(root);
  platform.nvidia_module = detect_nvidia_module(root, platform.kernel);
  platform.other_gpus = detect_other_gpus(root, platform.wsl);
}

}  // namespace enginehost::platform
