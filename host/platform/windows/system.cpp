#include "host/platform/windows/system.hpp"

#include "base/text.hpp"
#include "base/windows/system.hpp"
#include "host/platform/parts.hpp"
#include "host/platform/windows/registry.hpp"

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

}  // namespace enginehost::platform
