#include "host/platform/windows/system.hpp"

#include <algorithm>
#include <bit>
#include <cwchar>
#include <utility>

#include "base/environment.hpp"
#include "base/file_calls.hpp"
#include "base/file_system.hpp"
#include "base/paths.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "base/windows/system.hpp"
#include "base/windows/wide.hpp"
#include "host/binary/binary.hpp"
#include "host/platform/parts.hpp"
#include "host/platform/platform.hpp"

namespace enginehost::platform {
namespace {

template <class Function>
Function function_of(const wchar_t* module, const char* name) {
  const FARPROC found = ::GetProcAddress(::GetModuleHandleW(module), name);
  return reinterpret_cast<Function>(reinterpret_cast<void*>(found));
}

constexpr std::uint32_t first_build_of_11 = 22000;
constexpr const char* version_key = "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion";

}  // namespace

std::string WindowsVersion::text() const {
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(build);
}

std::optional<WindowsVersion> windows_version() {
  using Ask = LONG(WINAPI*)(OSVERSIONINFOEXW*);
  OSVERSIONINFOEXW reported{};
  reported.dwOSVersionInfoSize = sizeof reported;
  const auto ask = function_of<Ask>(L"ntdll.dll", "RtlGetVersion");
  if (ask == nullptr || ask(&reported) != 0) return std::nullopt;
  return WindowsVersion{reported.dwMajorVersion, reported.dwMinorVersion, reported.dwBuildNumber,
                        reported.wProductType != VER_NT_WORKSTATION};
}

WindowsName name_of(const WindowsVersion& version, std::string product, const std::string& release) {
  WindowsName found;
  if (version.server) {
    for (const std::string& word : split(product, ' '))  // "Windows Server 2022 Datacenter"
      if (const auto year = parse_integer(word); year && *year >= 2000) found.version = word;
    if (product.empty()) product = "Windows Server";
  } else if (version.major == 10) {
    found.version = version.build >= first_build_of_11 ? "11" : "10";
    const std::string old = "Windows 10";
    if (found.version == "11" && product.starts_with(old)) product.replace(0, old.size(), "Windows 11");
    if (product.empty()) product = "Windows " + found.version;
  }
  if (found.version.empty())
    found.version = std::to_string(version.major) + "." + std::to_string(version.minor);
  if (product.empty()) product = "Windows " + found.version;
  found.name = release.empty() ? product : product + " " + release;
  return found;
}

Fact<std::string> detect_os() { return Fact<std::string>::known("windows", "this program"); }

// The process's architecture rather than the machine's, because engines are loaded into the process.
Fact<std::string> detect_arch() {
  USHORT process = 0, machine = 0;
  using Ask = BOOL(WINAPI*)(HANDLE, USHORT*, USHORT*);  // Windows 10 1511 and newer
  const auto ask = function_of<Ask>(L"kernel32.dll", "IsWow64Process2");
  if (ask == nullptr || ask(::GetCurrentProcess(), &process, &machine) == 0) machine = 0;
#if defined(__x86_64__) || defined(_M_X64)
  constexpr const char* arch = "x86_64";
  constexpr USHORT own = IMAGE_FILE_MACHINE_AMD64;
#elif defined(__aarch64__) || defined(_M_ARM64)
  constexpr const char* arch = "aarch64";
  constexpr USHORT own = IMAGE_FILE_MACHINE_ARM64;
#else
  constexpr const char* arch = "i386";
  constexpr USHORT own = IMAGE_FILE_MACHINE_I386;
#endif
  std::string source = "this program";
  if (machine != 0 && machine != own)
    source += machine == IMAGE_FILE_MACHINE_ARM64   ? ", emulated on aarch64"
              : machine == IMAGE_FILE_MACHINE_AMD64 ? ", on x86_64"
                                                    : ", on another processor";
  return Fact<std::string>::known(arch, std::move(source));
}

Fact<std::string> detect_kernel(const Root&) {
  const auto version = windows_version();
  if (!version) return Fact<std::string>::unknown("RtlGetVersion failed");
  return Fact<std::string>::known(version->text(), "RtlGetVersion");
}

Fact<Distribution> detect_distribution(const Root&) {
  const auto version = windows_version();
  if (!version) return Fact<Distribution>::unknown("RtlGetVersion failed");
  // "23H2"; before 20H2 the value was called ReleaseId and was "2004".
  auto release = registry::text(version_key, "DisplayVersion");
  if (!release) release = registry::text(version_key, "ReleaseId");
  const WindowsName called =
      name_of(*version, registry::text(version_key, "ProductName").value_or(""), release.value_or(""));
  return Fact<Distribution>::known({"windows", called.name, called.version}, "RtlGetVersion");
}

// Returns the oldest version among the runtime's libraries. Microsoft keeps one installation consistent, but
// an application's folder, or an old program that replaced one file, may not be. A build that is newer than
// any of the libraries may crash.
Fact<std::string> detect_vcruntime(const Root& root) {
  using TextFact = Fact<std::string>;
  const LibrarySearch libraries(root);
  std::string oldest;
  std::vector<std::string> sources, missing;
  std::string silent;
  for (const std::string name : {"vcruntime140.dll", "msvcp140.dll"}) {
    const auto library = libraries.find(name);
    if (!library) {
      missing.push_back(name);
      continue;
    }
    const auto resources = binary::pe_resources(root.on_disk(library->path));
    std::string version = resources ? resources->file_version : "";
    if (version.empty()) {
      silent = library->path;
      continue;
    }
    if (version.ends_with(".0")) version.resize(version.size() - 2);  // "14.40.33810.0"
    sources.push_back(library->path + " " + version);
    if (oldest.empty() || compare_versions(version, oldest) < 0) oldest = std::move(version);
  }
  if (!missing.empty()) return TextFact::absent(join(missing, ", ") + ": not in " + libraries.places());
  if (!silent.empty()) return TextFact::unknown(silent + " has no version information");
  return TextFact::known(std::move(oldest), join(sources, ", "));
}

namespace {

// A process with threads in several groups of 64 processors has no mask and may use all of them.
int usable_cores() {
  DWORD_PTR process = 0, system = 0;
  if (::GetProcessAffinityMask(::GetCurrentProcess(), &process, &system) != 0 && process != 0 &&
      (process != system || ::GetActiveProcessorGroupCount() == 1))
    return std::popcount(process);
  return static_cast<int>(::GetActiveProcessorCount(ALL_PROCESSOR_GROUPS));
}

#if defined(__x86_64__) || defined(_M_X64) || defined(__i386__) || defined(_M_IX86)

Cpu ask_processor() {
  Cpu cpu = x86_cpu(cpuid_of_this_processor());
  cpu.model = trim(processor_brand());
  return cpu;
}
constexpr const char* cpu_source = "cpuid";

#else

// The arm64 features that Windows reports (winnt.h, PF_ARM_…), by Linux's names.
Cpu ask_processor() {
  struct Feature {
    const char* name;
    DWORD number;
  };
  static constexpr Feature features[] = {{"fp", 18},      {"asimd", 19}, {"aes", 30},   {"pmull", 30},
                                         {"sha1", 30},    {"sha2", 30},  {"crc32", 31}, {"atomics", 34},
                                         {"asimddp", 43}, {"lrcpc", 45}};
  Cpu cpu;
  for (const Feature& feature : features)
    if (::IsProcessorFeaturePresent(feature.number) != 0) cpu.features.emplace_back(feature.name);
  std::sort(cpu.features.begin(), cpu.features.end());
  cpu.model = registry::text("HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0", "ProcessorNameString")
                  .value_or("");
  return cpu;
}
constexpr const char* cpu_source = "IsProcessorFeaturePresent";

#endif

}  // namespace

Fact<Cpu> detect_cpu() {
  // The processor does not change while a process runs, but the cores it may use can.
  static const Cpu& processor = *new Cpu(ask_processor());
  Cpu cpu = processor;
  cpu.cores = usable_cores();
  return Fact<Cpu>::known(std::move(cpu), cpu_source);
}

// The limit of a container or of a job scheduler is that of its job object.
Fact<Memory> detect_memory(const Root&) {
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof status;
  if (::GlobalMemoryStatusEx(&status) == 0)
    return Fact<Memory>::unknown("GlobalMemoryStatusEx failed: error " + std::to_string(::GetLastError()));
  Memory memory{status.ullTotalPhys, status.ullAvailPhys};
  std::string source = "GlobalMemoryStatusEx";
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION job{};
  if (::QueryInformationJobObject(nullptr, JobObjectExtendedLimitInformation, &job, sizeof job, nullptr) !=
      0) {
    std::uint64_t limit = memory.total;
    const DWORD flags = job.BasicLimitInformation.LimitFlags;
    if ((flags & JOB_OBJECT_LIMIT_JOB_MEMORY) != 0)
      limit = std::min<std::uint64_t>(limit, job.JobMemoryLimit);
    if ((flags & JOB_OBJECT_LIMIT_PROCESS_MEMORY) != 0)
      limit = std::min<std::uint64_t>(limit, job.ProcessMemoryLimit);
    if (limit < memory.total) {
      memory.total = limit;
      memory.available = std::min(memory.available, limit);
      source += ", limited by the job object";
    }
  }
  return Fact<Memory>::known(memory, std::move(source));
}

// Reads the value by which Windows' own programs detect a container. 1: it has its own system; 2: it runs in
// a small virtual machine. Docker and other programs start both kinds.
Fact<std::string> detect_container(const Root& root) {
  const std::string key = "SYSTEM\\CurrentControlSet\\Control", name = "ContainerType";
  if (root.is_this_machine() && registry::number(key, name))
    return Fact<std::string>::known("windows container", "registry: " + key + ", " + name);
  return Fact<std::string>::absent("registry: " + key + ", " + name);
}

// The installer of AMD's HIP SDK sets HIP_PATH to "C:\Program Files\AMD\ROCm\6.2\". Only its libraries know
// which GPUs exist.
Fact<Rocm> detect_rocm(const Root& root) {
  const std::string folder = environment_variable("HIP_PATH").value_or("");
  if (folder.empty() || !root.is_folder(folder)) return Fact<Rocm>::absent("HIP_PATH");
  Rocm found;
  for (std::string& name : split(folder, '\\'))
    if (!name.empty() && name.find_first_not_of("0123456789.") == std::string::npos)
      found.version = std::move(name);
  return Fact<Rocm>::known(std::move(found), "HIP_PATH");
}

Fact<std::string> detect_other_gpus(const Root& root, const Fact<std::string>&) {
  if (!root.is_this_machine())
    return Fact<std::string>::unknown("the devices of another root cannot be asked for");
  std::vector<std::string> names;
  for (const auto& [maker, vendor] : {std::pair("AMD ", "1002"), std::pair("Intel ", "8086")}) {
    const auto devices = display_devices(vendor);
    if (!devices) return Fact<std::string>::unknown("SetupAPI does not answer");
    for (const std::string& device : names_of(*devices)) names.push_back(maker + device);
  }
  return names.empty() ? Fact<std::string>::absent("SetupAPI")
                       : Fact<std::string>::known(join(names, ", "), "SetupAPI");
}

void detect_own_facts(Platform& platform, const Root& root, const LibrarySearch&) {
  SYSTEM_INFO system{};
  ::GetSystemInfo(&system);
  platform.page_size = Fact<std::uint64_t>::known(system.dwPageSize, "GetSystemInfo");
  platform.container = detect_container(root);
  platform.rocm = detect_rocm(root);
  platform.other_gpus = detect_other_gpus(root, platform.wsl);
  platform.vcruntime = detect_vcruntime(root);
}

Identity this_user() {
  Identity identity;
  identity.home = environment_variable("USERPROFILE").value_or("");
  while (!identity.home.empty() && (identity.home.back() == '\\' || identity.home.back() == '/'))
    identity.home.pop_back();
  if (identity.home.size() < 3) identity.home.clear();  // a drive
  identity.user = effective_user();
  // A system account identifies nobody, and its name is an element of many paths.
  const std::string name = to_lower(identity.user);
  if (name == "system" || name == "local service" || name == "network service") identity.user.clear();
  return identity;
}

}  // namespace enginehost::platform
