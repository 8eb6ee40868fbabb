#include <algorithm>

#include "base/text.hpp"
#include "base/version.hpp"
#include "host/resolve/checks.hpp"

namespace enginehost::resolve {
namespace {

using manifest::Requirements;
using platform::Platform;

void require_evidence(Check& check, std::string required, std::string found) {
  if (check.result != Answer::no) return;
  check.evidence.push_back({"required", std::move(required), "manifest"});
  check.evidence.push_back({"found", std::move(found), check.source});
}

// A build for one C library does not run on another, so that comes before any version.
bool check_libc(const Requirements& requirements, const Platform& machine, Checks& checks) {
  const std::string wanted = !requirements.libc.empty()   ? requirements.libc
                             : requirements.glibc.empty() ? ""
                                                          : "glibc";
  if (wanted.empty()) return true;
  const auto& libc = machine.libc;
  if (libc.is_known() && libc.value().name == wanted) {
    if (requirements.glibc.empty()) {
      checks.push_back(answered("C library " + wanted, libc.value().name + " " + libc.value().version,
                                libc.source(), true, ""));
      return true;
    }
    checks.push_back(version_check("glibc", requirements.glibc,
                                   part_of(libc, [](const platform::Libc& one) { return one.version; }),
                                   "EH-L08"));
    return true;
  }
  const std::string requirement =
      requirements.glibc.empty() ? "C library " + wanted : "glibc " + bound_text(requirements.glibc);
  if (libc.is_unknown()) {
    checks.push_back(unanswered(requirement, libc.why()));
    return true;
  }
  const std::string found = libc.is_known() ? libc.value().name + " " + libc.value().version : "none";
  checks.push_back(
      answered(requirement, found, libc.source(), false, wanted == "musl" ? "EH-L28" : "EH-L29"));
  require_evidence(checks.back(), wanted, found);
  return false;
}

void check_libstdcxx(const Requirements& requirements, const Platform& machine, Checks& checks) {
  const auto add = [&](const char* what, const std::string& bound,
                       std::string platform::Libstdcxx::*version) {
    if (bound.empty()) return;
    const auto fact =
        part_of(machine.libstdcxx, [&](const platform::Libstdcxx& one) { return one.*version; });
    Check check = version_check(what, bound, fact, "EH-L09");
    if (check.result == Answer::no && machine.libstdcxx.is_known()) {
      check.evidence[0].value = std::string(what) + " " + check.evidence[0].value;
      check.evidence.push_back({"path", machine.libstdcxx.value().path, machine.libstdcxx.source()});
    }
    checks.push_back(std::move(check));
  };
  add("GLIBCXX", requirements.glibcxx, &platform::Libstdcxx::glibcxx);
  add("CXXABI", requirements.cxxabi, &platform::Libstdcxx::cxxabi);
}

void check_processor(const Requirements& requirements, const Platform& machine, Checks& checks) {
  if (requirements.cpu.empty()) return;
  const std::string requirement = "processor with " + join(requirements.cpu, " ");
  const auto& cpu = machine.cpu;
  if (!cpu.is_known()) {
    checks.push_back(unanswered(requirement, cpu.is_unknown() ? cpu.why() : "no processor in the report"));
    return;
  }
  std::vector<std::string> missing;
  for (const std::string& wanted : requirements.cpu) {
    // Levels are named so that their texts sort: "x86-64" (the first, left out by some) to "x86-64-v4".
    const bool holds = wanted.starts_with("x86-64")
                           ? !cpu.value().level.empty() && cpu.value().level >= wanted
                           : std::find(cpu.value().features.begin(), cpu.value().features.end(), wanted) !=
                                 cpu.value().features.end();
    if (!holds) missing.push_back(wanted);
  }
  std::string observed = cpu.value().level.empty() ? cpu.value().model : cpu.value().level;
  if (!missing.empty()) observed += (observed.empty() ? "without " : ", without ") + join(missing, " ");
  if (observed.empty()) observed = join(requirements.cpu, " ");
  checks.push_back(answered(requirement, observed, cpu.source(), missing.empty(), "EH-L27"));
  require_evidence(checks.back(), join(missing, " "), observed);
}

void check_memory(const Requirements& requirements, const Platform& machine, Checks& checks) {
  if (requirements.memory == 0) return;
  const std::string required = format_bytes(requirements.memory), requirement = "memory >= " + required;
  if (!machine.memory.is_known()) {
    checks.push_back(
        unanswered(requirement, machine.memory.is_unknown() ? machine.memory.why() : "not in the report"));
    return;
  }
  const std::string found = format_bytes(machine.memory.value().total);
  checks.push_back(answered(requirement, found, machine.memory.source(),
                            machine.memory.value().total >= requirements.memory, "EH-S07"));
  require_evidence(checks.back(), required, found);
}

// Which files a machine has is found out when the build is checked before loading; what the report tells is
// used here.
void check_libraries(const Requirements& requirements, const Platform& machine, Checks& checks) {
  for (const std::string& library : requirements.libraries) {
    const std::string requirement = "system library " + library;
    const auto& driver = machine.cuda.library;
    const auto& cxx = machine.libstdcxx;
    if (library == "libcuda.so.1" && !driver.is_unknown()) {
      const bool is_stub = driver.is_known() && driver.value().note.find("stub") != std::string::npos;
      const std::string found = driver.is_known() ? driver.value().path : "none";
      checks.push_back(answered(requirement, found, driver.source(), driver.is_known() && !is_stub,
                                is_stub ? "EH-G02" : "EH-G01"));
      if (checks.back().result == Answer::no)
        checks.back().evidence = {{"library", library, "manifest"}, {"path", found, driver.source()}};
    } else if (library == "libstdc++.so.6" && cxx.is_known()) {
      checks.push_back(answered(requirement, cxx.value().path, cxx.source(), true, ""));
    } else {
      checks.push_back(unanswered(requirement, "looked for when the build is checked before loading"));
    }
  }
}

void check_metal(const Requirements& requirements, const Platform& machine, Checks& checks) {
  if (!requirements.metal) return;
  const auto& metal = machine.metal;
  if (metal.is_unknown()) {
    checks.push_back(unanswered("Metal device", metal.why()));
    return;
  }
  const std::string found = metal.is_known() ? metal.value().device : "none";
  checks.push_back(answered("Metal device", found, metal.source(), metal.is_known(), "EH-S17"));
  require_evidence(checks.back(), "Metal", found);
}

void check_rocm(const Requirements& requirements, const Platform& machine, Checks& checks) {
  if (!requirements.rocm) return;
  const auto& rocm = machine.rocm;
  checks.push_back(version_check("ROCm", requirements.rocm->version,
                                 part_of(rocm, [](const platform::Rocm& one) { return one.version; }),
                                 "EH-S16"));
  if (requirements.rocm->gfx.empty() || rocm.is_absent()) return;
  const std::string required = join(requirements.rocm->gfx, " "), requirement = "AMD GPU of " + required;
  if (rocm.is_unknown() || rocm.value().gfx.empty()) {
    checks.push_back(unanswered(requirement, rocm.is_unknown() ? rocm.why() : "the devices are not known"));
    return;
  }
  const auto& devices = rocm.value().gfx;
  const bool served = std::any_of(devices.begin(), devices.end(), [&](const std::string& device) {
    return std::find(requirements.rocm->gfx.begin(), requirements.rocm->gfx.end(), device) !=
           requirements.rocm->gfx.end();
  });
  checks.push_back(answered(requirement, join(devices, " "), rocm.source(), served, "EH-S16"));
  require_evidence(checks.back(), required, join(devices, " "));
}

}  // namespace

void check_system(const manifest::Build& build, const Machine& machine, Checks& checks) {
  const Requirements& requirements = build.requires_;
  const Platform& observed = machine.platform;
  if (check_libc(requirements, observed, checks)) check_libstdcxx(requirements, observed, checks);
  if (!requirements.os_version.empty())
    checks.push_back(version_check(
        "system version", requirements.os_version,
        part_of(observed.distribution, [](const platform::Distribution& one) { return one.version; }),
        "EH-S06"));
  check_processor(requirements, observed, checks);
  check_memory(requirements, observed, checks);
  if (!requirements.vcruntime.empty())
    checks.push_back(
        version_check("Visual C++ runtime", requirements.vcruntime, observed.vcruntime, "EH-S15"));
  check_libraries(requirements, observed, checks);
  check_metal(requirements, observed, checks);
  check_rocm(requirements, observed, checks);
  for (const auto& [name, text] : requirements.unknown)
    checks.push_back(
        unanswered(name + " " + text, "this version of EngineHost does not know the requirement"));
}

}  // namespace enginehost::resolve
