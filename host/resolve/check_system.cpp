#include <algorithm>

#include "base/text.hpp"
#include "base/version.hpp"
#include "host/resolve/checks.hpp"

namespace enginehost::resolve {
namespace {

using manifest::Requirements;
using platform::Platform;

// Adds the required and the found value to a refusal.
Check with_evidence(Check check, Answer answer, std::string required) {
  if (answer == Answer::no)
    check.evidence = {{"required", std::move(required), "manifest"}, {"found", check.observed, check.source}};
  return check;
}

Answer holds(bool it_does) { return it_does ? Answer::yes : Answer::no; }

// A build for one C library does not run on another, so this is checked before any version.
bool check_libc(const Requirements& requirements, const Platform& machine, CheckFindings& findings) {
  const std::string_view wanted = !requirements.libc.empty()   ? std::string_view(requirements.libc)
                                  : requirements.glibc.empty() ? ""
                                                               : "glibc";
  if (wanted.empty()) return true;
  const auto& libc = machine.libc;
  const auto name_and_version = [&] { return libc.value().name + " " + libc.value().version; };
  const auto library = [&] { return "C library " + std::string(wanted); };
  if (libc.is_known() && libc.value().name == wanted) {
    if (requirements.glibc.empty())
      findings.note(true, {}, [&] { return reported(library(), name_and_version(), libc.source()); });
    else
      note_version("glibc", requirements.glibc, Reading(libc, libc.value().version), "EH-L08", findings);
    return true;
  }
  const auto requirement = [&] {
    return requirements.glibc.empty() ? library() : "glibc " + bound_text(requirements.glibc);
  };
  if (libc.is_unknown()) {
    findings.note_unknown([&] { return unanswered(requirement(), libc.why()); });
    return true;
  }
  findings.note(Answer::no, wanted == "musl" ? "EH-L28" : "EH-L29", [&] {
    return with_evidence(
        reported(requirement(), libc.is_known() ? name_and_version() : "none", libc.source()), Answer::no,
        std::string(wanted));
  });
  return false;
}

void check_libstdcxx(const Requirements& requirements, const Platform& machine, CheckFindings& findings) {
  const auto& library = machine.libstdcxx;
  const auto note = [&](const char* what, const std::string& bound, const std::string& version) {
    if (bound.empty()) return;
    const Reading reading(library, version);
    const Answer answer = answer_of(bound, reading);
    findings.note(answer, "EH-L09", [&] {
      Check check = version_check(what, bound, reading, answer);
      if (answer == Answer::no && library.is_known()) {
        check.evidence[0].value = std::string(what) + " " + check.evidence[0].value;
        check.evidence.push_back({"path", library.value().path, library.source()});
      }
      return check;
    });
  };
  note("GLIBCXX", requirements.glibcxx, library.value().glibcxx);
  note("CXXABI", requirements.cxxabi, library.value().cxxabi);
}

bool has_feature(const platform::Cpu& cpu, const std::string& wanted) {
  // The names of the levels sort in order: "x86-64" (the first, which some omit) to "x86-64-v4".
  if (wanted.starts_with("x86-64")) return !cpu.level.empty() && cpu.level >= wanted;
  return std::find(cpu.features.begin(), cpu.features.end(), wanted) != cpu.features.end();
}

void check_processor(const Requirements& requirements, const Platform& machine, CheckFindings& findings) {
  if (requirements.cpu.empty()) return;
  const auto& cpu = machine.cpu;
  const auto requirement = [&] { return "processor with " + join(requirements.cpu, " "); };
  if (!cpu.is_known()) {
    findings.note_unknown([&] {
      return unanswered(requirement(), cpu.is_unknown() ? cpu.why() : "no processor in the report");
    });
    return;
  }
  const Answer answer =
      holds(std::all_of(requirements.cpu.begin(), requirements.cpu.end(),
                        [&](const std::string& wanted) { return has_feature(cpu.value(), wanted); }));
  findings.note(answer, "EH-L27", [&] {
    std::vector<std::string> missing;
    for (const std::string& wanted : requirements.cpu)
      if (!has_feature(cpu.value(), wanted)) missing.push_back(wanted);
    std::string observed = cpu.value().level.empty() ? cpu.value().model : cpu.value().level;
    if (!missing.empty()) observed += (observed.empty() ? "without " : ", without ") + join(missing, " ");
    if (observed.empty()) observed = join(requirements.cpu, " ");
    return with_evidence(reported(requirement(), std::move(observed), cpu.source()), answer,
                         join(missing, " "));
  });
}

void check_memory(const Requirements& requirements, const Platform& machine, CheckFindings& findings) {
  if (requirements.memory == 0) return;
  const auto& memory = machine.memory;
  const auto required = [&] { return format_bytes(requirements.memory); };
  if (!memory.is_known()) {
    findings.note_unknown([&] {
      return unanswered("memory >= " + required(), memory.is_unknown() ? memory.why() : "not in the report");
    });
    return;
  }
  const Answer answer = holds(memory.value().total >= requirements.memory);
  findings.note(answer, "EH-S07", [&] {
    return with_evidence(
        reported("memory >= " + required(), format_bytes(memory.value().total), memory.source()), answer,
        required());
  });
}

// Returns the file that the loader of this machine would use, empty if there is none; nullptr if it was not
// searched.
const std::string* file_of_library(const std::string& library, const Platform& machine) {
  const platform::Variables& looked_for = machine.libraries.value();
  const auto found = std::find_if(looked_for.begin(), looked_for.end(),
                                  [&](const auto& known) { return known.first == library; });
  return found != looked_for.end() ? &found->second : nullptr;
}

void check_library(const std::string& library, const Platform& machine, CheckFindings& findings) {
  const auto requirement = [&] { return "system library " + library; };
  const auto& driver = machine.cuda.library;
  const auto& cxx = machine.libstdcxx;
  if (library == "libcuda.so.1" && !driver.is_unknown()) {
    const bool is_stub = driver.is_known() && driver.value().note.find("stub") != std::string::npos;
    const Answer answer = holds(driver.is_known() && !is_stub);
    findings.note(answer, is_stub ? "EH-G02" : "EH-G01", [&] {
      Check check =
          reported(requirement(), driver.is_known() ? driver.value().path : "none", driver.source());
      if (answer == Answer::no)
        check.evidence = {{"library", library, "manifest"}, {"path", check.observed, driver.source()}};
      return check;
    });
  } else if (library == "libstdc++.so.6" && cxx.is_known()) {
    findings.note(true, {}, [&] { return reported(requirement(), cxx.value().path, cxx.source()); });
  } else if (const std::string* file = file_of_library(library, machine)) {
    findings.note(!file->empty(), "EH-L01", [&] {
      Check check = reported(requirement(), file->empty() ? "none" : *file, machine.libraries.source());
      if (file->empty())
        check.evidence = {{"library", library, "manifest"},
                          {"searched", machine.libraries.source(), "the loader's order"}};
      return check;
    });
  } else {
    findings.note_left_to_preflight(
        [&] { return unanswered(requirement(), "looked for when the build is checked before loading"); });
  }
}

void check_metal(const Requirements& requirements, const Platform& machine, CheckFindings& findings) {
  if (!requirements.metal) return;
  const auto& metal = machine.metal;
  if (metal.is_unknown()) {
    findings.note_unknown([&] { return unanswered("Metal device", metal.why()); });
    return;
  }
  const Answer answer = holds(metal.is_known());
  findings.note(answer, "EH-S17", [&] {
    return with_evidence(
        reported("Metal device", metal.is_known() ? metal.value().device : "none", metal.source()), answer,
        "Metal");
  });
}

void check_rocm(const Requirements& requirements, const Platform& machine, CheckFindings& findings) {
  if (!requirements.rocm) return;
  const auto& rocm = machine.rocm;
  const auto& wanted = requirements.rocm->gfx;
  note_version("ROCm", requirements.rocm->version, Reading(rocm, rocm.value().version), "EH-S16", findings);
  if (wanted.empty() || rocm.is_absent()) return;
  const auto requirement = [&] { return "AMD GPU of " + join(wanted, " "); };
  if (rocm.is_unknown() || rocm.value().gfx.empty()) {
    findings.note_unknown([&] {
      return unanswered(requirement(), rocm.is_unknown() ? rocm.why() : "the devices are not known");
    });
    return;
  }
  const auto& devices = rocm.value().gfx;
  const Answer answer = holds(std::any_of(devices.begin(), devices.end(), [&](const std::string& device) {
    return std::find(wanted.begin(), wanted.end(), device) != wanted.end();
  }));
  findings.note(answer, "EH-S16", [&] {
    return with_evidence(reported(requirement(), join(devices, " "), rocm.source()), answer,
                         join(wanted, " "));
  });
}

}  // namespace

void check_system(const manifest::Build& build, const Platform& machine, CheckFindings& findings) {
  const Requirements& requirements = build.requires_;
  if (check_libc(requirements, machine, findings)) check_libstdcxx(requirements, machine, findings);
  if (!requirements.os_version.empty())
    note_version("system version", requirements.os_version,
                 Reading(machine.distribution, machine.distribution.value().version), "EH-S06", findings);
  check_processor(requirements, machine, findings);
  check_memory(requirements, machine, findings);
  if (!requirements.vcruntime.empty())
    note_version("Visual C++ runtime", requirements.vcruntime, machine.vcruntime, "EH-S15", findings);
  for (const std::string& library : requirements.libraries) check_library(library, machine, findings);
  check_metal(requirements, machine, findings);
  check_rocm(requirements, machine, findings);
  for (const auto& [name, text] : requirements.unknown)
    findings.note_unknown([&, &key = name, &wanted = text] {
      return unanswered(key + " " + wanted, "this version of EngineHost does not know the requirement");
    });
}

}  // namespace enginehost::resolve
