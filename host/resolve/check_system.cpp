#include <algorithm>

#include "base/text.hpp"
#include "host/platform/driver_state.hpp"
#include "host/resolve/checks.hpp"

namespace enginehost::resolve {
namespace {

using manifest::Requirements;
using platform::Platform;

// A build for one C library does not run on another, so this is checked before any version.
bool check_libc(const Requirements& requirements, const Platform& machine, Checks& checks) {
  const std::string wanted = !requirements.libc.empty()   ? requirements.libc
                             : requirements.glibc.empty() ? ""
                                                          : "glibc";
  if (wanted.empty()) return true;
  const auto& libc = machine.libc;
  const bool is_the_same = libc.is_known() && libc.value().name == wanted;
  if (is_the_same && !requirements.glibc.empty()) {
    note_version("glibc", requirements.glibc, part_of(libc, &platform::Libc::version),
                 Code::c_library_too_old, checks);
    return true;
  }
  const std::string requirement =
      requirements.glibc.empty() ? "C library " + wanted : "glibc " + bound_text(requirements.glibc);
  if (libc.is_unknown()) {
    note_unknown(checks, requirement, libc.why());
    return true;
  }
  const std::string found = libc.is_known() ? libc.value().name + " " + libc.value().version : "none";
  note(checks, is_the_same, wanted == "musl" ? Code::built_for_musl : Code::built_for_glibc,
       compared(requirement, found, libc.source(), wanted));
  return is_the_same;
}

void check_libstdcxx(const Requirements& requirements, const Platform& machine, Checks& checks) {
  using platform::Libstdcxx;
  const auto& library = machine.libstdcxx;
  const auto check = [&](const std::string& what, const std::string& bound, std::string Libstdcxx::*version) {
    if (bound.empty()) return;
    Check& added = note_version(what, bound, part_of(library, version), Code::cpp_runtime_too_old, checks);
    if (added.result != Answer::no || !library.is_known()) return;
    added.evidence.front().value = what + " " + added.evidence.front().value;
    added.evidence.push_back({Key::path, library.value().path, library.source()});
  };
  check("GLIBCXX", requirements.glibcxx, &Libstdcxx::glibcxx);
  check("CXXABI", requirements.cxxabi, &Libstdcxx::cxxabi);
}

bool has_feature(const platform::Cpu& cpu, const std::string& wanted) {
  // The names of the levels sort in order: "x86-64" (the first, which some omit) to "x86-64-v4".
  if (wanted.starts_with("x86-64")) return !cpu.level.empty() && cpu.level >= wanted;
  return std::find(cpu.features.begin(), cpu.features.end(), wanted) != cpu.features.end();
}

void check_processor(const Requirements& requirements, const Platform& machine, Checks& checks) {
  if (requirements.cpu.empty()) return;
  const auto& cpu = machine.cpu;
  const std::string requirement = "processor with " + join(requirements.cpu, " ");
  if (!cpu.is_known()) {
    note_unknown(checks, requirement, cpu.is_unknown() ? cpu.why() : "no processor in the report");
    return;
  }
  std::vector<std::string> missing = requirements.cpu;
  std::erase_if(missing, [&](const std::string& wanted) { return has_feature(cpu.value(), wanted); });
  std::string observed = cpu.value().level.empty() ? cpu.value().model : cpu.value().level;
  if (!missing.empty()) observed += (observed.empty() ? "without " : ", without ") + join(missing, " ");
  if (observed.empty()) observed = join(requirements.cpu, " ");
  Check& check = note(checks, missing.empty(), Code::processor_too_old,
                      compared(requirement, observed, cpu.source(), join(missing, " ")));
  if (!missing.empty() && has_feature(cpu.value(), "hypervisor"))
    check.evidence.push_back({Key::virtual_machine, "yes", cpu.source()});
}

void check_memory(const Requirements& requirements, const Platform& machine, Checks& checks) {
  if (requirements.memory == 0) return;
  const auto& memory = machine.memory;
  const std::string required = format_bytes(requirements.memory);
  if (memory.is_known())
    note(checks, memory.value().total >= requirements.memory, Code::not_enough_memory,
         compared("memory >= " + required, format_bytes(memory.value().total), memory.source(), required));
  else
    note_unknown(checks, "memory >= " + required, memory.is_unknown() ? memory.why() : "not in the report");
}

void check_library(const std::string& library, const Platform& machine, Checks& checks) {
  const std::string requirement = "system library " + library;
  const auto& driver = machine.cuda.library;
  const auto& cxx = machine.libstdcxx;
  // The file that the loader of this machine would use for a name; empty if there is none.
  const platform::Variables& files = machine.libraries.value();
  const auto file = std::ranges::find(files, library, &platform::Variables::value_type::first);
  if (library == "libcuda.so.1" && !driver.is_unknown()) {
    const bool holds = platform::driver_library_state(machine) == platform::DriverLibrary::found;
    const std::string obstacle = platform::obstacle_text(machine);
    Diagnosis why = platform::why_no_driver(machine);
    Check& check = note(checks, holds, why.code,
                        reported(requirement,
                                 !obstacle.empty()   ? obstacle
                                 : driver.is_known() ? driver.value().path
                                                     : "none",
                                 driver.source()));
    if (!holds) check.evidence = std::move(why.evidence);
  } else if (library == "libstdc++.so.6" && cxx.is_known()) {
    note(checks, true, {}, reported(requirement, cxx.value().path, cxx.source()));
  } else if (file != files.end()) {
    const std::string& source = machine.libraries.source();
    Check check = reported(requirement, file->second.empty() ? "none" : file->second, source);
    check.evidence = {{Key::library, library, "manifest"}, {Key::searched, source, "the loader's order"}};
    note(checks, !file->second.empty(), Code::library_missing, std::move(check));
  } else {
    // It is reported, but does not make the build doubtful.
    note_unknown(checks, requirement, "looked for when the build is checked before loading")
        .left_to_preflight = true;
  }
}

void check_metal(const Requirements& requirements, const Platform& machine, Checks& checks) {
  if (!requirements.metal) return;
  const auto& metal = machine.metal;
  if (metal.is_unknown())
    note_unknown(checks, "Metal device", metal.why());
  else
    note(checks, metal.is_known(), Code::no_metal_device,
         compared("Metal device", metal.is_known() ? metal.value().device : "none", metal.source(), "Metal"));
}

}  // namespace

void check_system(const manifest::Build& build, const Platform& machine, Checks& checks) {
  const Requirements& requirements = build.requires_;
  if (check_libc(requirements, machine, checks)) check_libstdcxx(requirements, machine, checks);
  if (!requirements.os_version.empty())
    note_version("system version", requirements.os_version,
                 part_of(machine.distribution, &platform::Distribution::version),
                 Code::operating_system_too_old, checks);
  check_processor(requirements, machine, checks);
  check_memory(requirements, machine, checks);
  if (!requirements.vcruntime.empty())
    note_version("Visual C++ runtime", requirements.vcruntime, machine.vcruntime,
                 Code::visual_cpp_runtime_missing, checks);
  for (const std::string& library : requirements.libraries) check_library(library, machine, checks);
  check_metal(requirements, machine, checks);
  check_rocm(requirements, machine, checks);
  for (const auto& [name, wanted] : requirements.unknown)
    note_unknown(checks, name + " " + wanted, "this version of EngineHost does not know the requirement");
}

}  // namespace enginehost::resolve
