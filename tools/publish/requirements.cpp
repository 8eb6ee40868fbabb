#include "tools/publish/requirements.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

#include "base/text.hpp"
#include "base/version.hpp"
#include "host/platform/platform.hpp"

namespace enginehost::publish {
namespace {

// The libraries of the requirements "glibc" and "glibcxx": ld.so and what glibc and GCC install with them.
constexpr std::array<std::string_view, 16> linux_runtime = {"libc.so.6",
                                                            "libm.so.6",
                                                            "libdl.so.2",
                                                            "libpthread.so.0",
                                                            "librt.so.1",
                                                            "libutil.so.1",
                                                            "libresolv.so.2",
                                                            "libanl.so.1",
                                                            "libnsl.so.1",
                                                            "libmvec.so.1",
                                                            "libstdc++.so.6",
                                                            "libgcc_s.so.1",
                                                            "libcrypt.so.1",
                                                            "ld-linux-x86-64.so.2",
                                                            "ld-linux-aarch64.so.1",
                                                            "libc.musl-x86_64.so.1"};

// The libraries of the requirements "driver" and "cuda"; only NVIDIA's kernel driver may provide them.
constexpr std::array<std::string_view, 4> nvidia_driver = {"libcuda.so.1", "libnvidia-ml.so.1", "nvcuda.dll",
                                                           "nvml.dll"};

// Libraries of a bare Windows that engine libraries use; api-ms-win-* and ext-ms-* are names for parts of
// them.
constexpr std::array<std::string_view, 33> windows_system = {
    "kernel32.dll", "kernelbase.dll", "ntdll.dll",    "user32.dll",
    "gdi32.dll",    "advapi32.dll",   "shell32.dll",  "ole32.dll",
    "oleaut32.dll", "ws2_32.dll",     "bcrypt.dll",   "crypt32.dll",
    "dbghelp.dll",  "shlwapi.dll",    "setupapi.dll", "version.dll",
    "winmm.dll",    "psapi.dll",      "iphlpapi.dll", "dxgi.dll",
    "d3d12.dll",    "d3d11.dll",      "msvcrt.dll",   "ucrtbase.dll",
    "rpcrt4.dll",   "secur32.dll",    "userenv.dll",  "cfgmgr32.dll",
    "dxcore.dll",   "imagehlp.dll",   "wintrust.dll", "bcryptprimitives.dll",
    "normaliz.dll"};

bool is_vcruntime(const std::string& name) {
  return name.starts_with("vcruntime") || name.starts_with("msvcp") || name.starts_with("concrt") ||
         name.starts_with("vcomp");
}

template <std::size_t size>
bool is_among(const std::array<std::string_view, size>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_system_library(const std::string& kind, const std::string& needed) {
  if (kind == "elf") return is_among(linux_runtime, needed);
  if (kind == "macho") return needed.starts_with("/usr/lib/") || needed.starts_with("/System/");
  const std::string name = to_lower(needed);
  return is_among(windows_system, name) || is_vcruntime(name) || name.starts_with("api-ms-win-") ||
         name.starts_with("ext-ms-");
}

bool is_gpu_flavor(const std::string& flavor) { return flavor.starts_with("cu") && flavor.size() > 2; }

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Returns "11.8" for "cu118" and "13.0" for "cu130"; empty for another flavor.
std::string toolkit_of(const std::string& flavor) {
  const std::string digits = flavor.starts_with("cu") ? flavor.substr(2, flavor.find('-', 2) - 2) : "";
  if (digits.size() < 2 || digits.size() > 3 || !parse_integer(digits)) return {};
  return digits.substr(0, digits.size() - 1) + "." + digits.substr(digits.size() - 1);
}

struct Version {
  bool operator()(const std::string& a, const std::string& b) const { return compare_versions(a, b) < 0; }
};

}  // namespace

bool is_of_system(const std::string& kind, const std::string& needed, const std::string& flavor) {
  const std::string name = kind == "pe" ? to_lower(needed) : file_name(needed);
  return is_system_library(kind, needed) || (is_gpu_flavor(flavor) && is_among(nvidia_driver, name));
}

std::vector<Outside> outside(const std::vector<ArtifactFacts>& parts, const std::string& flavor) {
  std::set<std::string> inside;
  for (const ArtifactFacts& part : parts) {
    for (const std::string& file : part.files) {
      inside.insert(file_name(file));
      inside.insert(to_lower(file_name(file)));
    }
    for (const LibraryFacts& library : part.libraries)
      if (!library.soname.empty()) inside.insert(file_name(library.soname));
  }
  // The first library that loads it provides it for all others.
  std::map<std::string, std::string> by_own_path;
  for (const ArtifactFacts& part : parts)
    for (const LibraryFacts& library : part.libraries)
      by_own_path.insert(library.found_by_own_path.begin(), library.found_by_own_path.end());
  std::vector<Outside> found;
  std::set<std::string> reported;
  for (const ArtifactFacts& part : parts)
    for (const LibraryFacts& library : part.libraries)
      for (const std::string& needed : library.needed) {
        const std::string name = library.kind == "pe" ? to_lower(needed) : file_name(needed);
        // glibc takes a dependency without a name for the program itself.
        if (name.empty() || inside.contains(name) || is_of_system(library.kind, needed, flavor)) continue;
        if (!reported.insert(name).second) continue;
        const auto own = by_own_path.find(name);
        found.push_back({name, library.path, own != by_own_path.end() ? own->second : std::string()});
      }
  return found;
}

namespace {

// The GPU code of a build: a device must be served by each library that has any, because a kernel of any of
// them may run. Libraries whose code is not wholly listed do not count.
class CommonCode {
 public:
  void add(const LibraryFacts& library) {
    if (library.gpu_code_incomplete || (library.sass.empty() && library.ptx.empty())) return;
    libraries_.push_back(&library);
    all_.insert(library.sass.begin(), library.sass.end());
  }
  // Returns the architectures whose devices all libraries serve.
  std::vector<std::string> sass() const {
    std::vector<std::string> common;
    for (const std::string& arch : all_)
      if (std::all_of(libraries_.begin(), libraries_.end(),
                      [&](const LibraryFacts* library) { return serves(*library, arch); }))
        common.push_back(arch);
    return common;
  }
  // Returns the architecture from which on every library has PTX; nothing if one has none.
  std::vector<std::string> ptx() const {
    std::string common;
    for (const LibraryFacts* library : libraries_) {
      const auto least = std::min_element(library->ptx.begin(), library->ptx.end(), Version());
      if (least == library->ptx.end()) return {};
      if (common.empty() || Version()(common, *least)) common = *least;
    }
    return common.empty() ? std::vector<std::string>() : std::vector<std::string>{common};
  }

 private:
  static bool serves(const LibraryFacts& library, const std::string& arch) {
    const auto device = platform::parse_capability(arch);
    const auto runs = [&](const std::vector<std::string>& codes, auto rule) {
      return std::any_of(codes.begin(), codes.end(), [&](const std::string& text) {
        const auto code = platform::parse_capability(text);
        return code && device && rule(*code, *device);
      });
    };
    return runs(library.sass, platform::sass_runs_on) || runs(library.ptx, platform::ptx_runs_on);
  }

  std::vector<const LibraryFacts*> libraries_;
  std::set<std::string, Version> all_;
};

}  // namespace

Json requirements_of(const std::vector<ArtifactFacts>& parts, const std::string& flavor) {
  std::string glibc, glibcxx, cxxabi, minimum_os;
  std::int64_t isa = 0;
  bool musl = false, vcruntime = false;
  CommonCode code;
  const auto raise = [](std::string& highest, const std::string& version) {
    if (!version.empty() && (highest.empty() || compare_versions(version, highest) > 0)) highest = version;
  };
  for (const ArtifactFacts& part : parts)
    for (const LibraryFacts& library : part.libraries) {
      raise(glibc, library.glibc);
      raise(glibcxx, library.glibcxx);
      raise(cxxabi, library.cxxabi);
      raise(minimum_os, library.minimum_os);
      isa = std::max(isa, library.isa);
      for (const std::string& needed : library.needed) {
        musl = musl || needed.starts_with("libc.musl-");
        vcruntime = vcruntime || (library.kind == "pe" && is_vcruntime(to_lower(needed)));
      }
      code.add(library);
    }
  // Metal Performance Shaders compute engines from this version of macOS on.
  if (flavor == "mps") raise(minimum_os, "12.3");
  Json requirements = Json::object();
  const auto at_least = [&](const char* name, const std::string& version) {
    if (!version.empty()) requirements.set(name, ">=" + version);
  };
  if (musl) requirements.set("libc", "musl");
  at_least("glibc", glibc);
  at_least("glibcxx", glibcxx);
  at_least("cxxabi", cxxabi);
  at_least("os_version", minimum_os);
  // The runtimes of Visual Studio 2015 and later are one; the imports do not show which toolset linked the
  // file.
  if (vcruntime) requirements.set("vcruntime", ">=14.0");
  if (isa > 0) requirements.set("cpu", Json::array().push("x86-64-v" + std::to_string(isa)));
  if (const std::string toolkit = toolkit_of(flavor); !toolkit.empty())
    requirements.set("cuda", Json::object()
                                 .set("toolkit", toolkit)
                                 .set("sass", Json::strings(code.sass()))
                                 .set("ptx", Json::strings(code.ptx())));
  std::vector<std::string> libraries;
  for (const Outside& one : outside(parts, flavor))
    if (one.found_in.empty()) libraries.push_back(one.name);
  if (!libraries.empty()) requirements.set("libraries", Json::strings(libraries));
  return requirements;
}

std::vector<std::string> stand_ins_of(const ArtifactFacts& facts) {
  std::vector<std::string> names;
  for (const LibraryFacts& library : facts.libraries)
    if (library.stand_in) names.push_back(library.path.substr(library.path.rfind('/') + 1));
  return names;
}

std::optional<Json> adapter_of(const LibraryFacts& plugin) {
  if (plugin.kind != "elf") return std::nullopt;
  std::vector<std::string> needs;
  for (const std::string& needed : plugin.needed)
    if (!file_name(needed).empty() && !is_system_library(plugin.kind, needed))
      needs.push_back(file_name(needed));
  if (needs.empty()) return std::nullopt;
  Json adapter = Json::object().set("needs", Json::strings(needs));
  if (!plugin.cxx11_abi.empty()) adapter.set("cxx11_abi", plugin.cxx11_abi);
  return adapter;
}

bool is_at_least(const std::string& bound, const std::string& version) {
  for (const std::string& condition : split(bound, ',')) {
    const std::size_t comparison = condition.find_first_not_of(' '),
                      begin = condition.find_first_of("0123456789");
    if (begin == std::string::npos || condition[comparison] == '<') continue;
    const std::string named = condition.substr(begin, condition.find_last_not_of(' ') + 1 - begin);
    if (compare_versions(named, version) >= 0) return true;
  }
  return false;
}

System system_of(const std::vector<ArtifactFacts>& parts) {
  std::set<std::string> systems, machines;
  bool first = true;
  for (const ArtifactFacts& part : parts)
    for (const LibraryFacts& library : part.libraries) {
      systems.insert(library.kind == "elf" ? "linux" : library.kind == "pe" ? "windows" : "macos");
      // A universal library is for several machines; the build is for those that all its libraries support.
      std::set<std::string> own, common;
      for (const std::string& machine : split(library.machine, '+'))
        own.insert(library.kind == "macho" && machine == "aarch64" ? "arm64" : machine);
      std::set_intersection(own.begin(), own.end(), machines.begin(), machines.end(),
                            std::inserter(common, common.end()));
      machines = first ? own : common;
      first = false;
    }
  if (systems.size() != 1 || machines.empty()) return {};
  return {*systems.begin(), join({machines.begin(), machines.end()}, "+")};
}

}  // namespace enginehost::publish
