#include "host/preflight/judgments.hpp"

#include <algorithm>
#include <optional>

#include "base/paths.hpp"
#include "base/version.hpp"
#include "host/linker/refusals.hpp"

namespace enginehost::preflight {
namespace {

constexpr const char* record = "the recorded machine";

// Determines the file's C library from its symbol versions or from the names that it needs. Empty: unknown.
std::string libc_of(const binary::BinaryInfo& info, std::string& reported_by) {
  for (const binary::VersionNeed& need : info.version_needs)
    if (need.version.starts_with("GLIBC_")) {
      reported_by = need.version;
      return "glibc";
    }
  for (const std::string& name : info.needed) {
    reported_by = name;
    if (name == "libc.so" || name.starts_with("libc.musl-") || name.starts_with("ld-musl-")) return "musl";
    if (name.starts_with("ld-linux") || name == "libc.so.6") return "glibc";
  }
  return {};
}

std::string newest_glibc(const binary::BinaryInfo& info) {
  std::string newest;
  for (const binary::VersionNeed& need : info.version_needs) {
    const std::string version = need.version.starts_with("GLIBC_") ? need.version.substr(6) : std::string();
    const bool numbered = !version.empty() && version.front() >= '0' && version.front() <= '9';
    if (numbered && !need.weak && (newest.empty() || compare_versions(version, newest) > 0)) newest = version;
  }
  return newest;
}

// Takes the machine's facts from the record; `here` supplies the rest.
linker::Machine machine_of(const platform::Platform& platform, linker::Machine here) {
  here.recorded = true;
  if (platform.arch.is_known()) {
    if (platform.arch.value() != here.architecture) here.page_size = 4096;
    here.architecture = platform.arch.value();
    here.bits = 64;
  }
  if (platform.libc.is_known()) {
    here.libc = platform.libc.value().name == "musl" ? linker::Libc::musl : linker::Libc::glibc;
    here.libc_version = platform.libc.value().version;
  }
  if (platform.page_size.is_known()) here.page_size = platform.page_size.value();
  here.kernel = platform.kernel.is_known() ? platform.kernel.value() : std::string();
  here.isa = 0;
  if (platform.cpu.is_known())
    for (const auto& [level, bits] :
         {std::pair("x86-64", 1u), {"x86-64-v2", 3u}, {"x86-64-v3", 7u}, {"x86-64-v4", 15u}})
      if (platform.cpu.value().level == level) here.isa = bits;
  if (here.libc == linker::Libc::glibc && here.isa != 0)
    here.hwcaps = linker::glibc_hwcaps_of_x86_64(here.libc_version, here.isa);
  // glibc 2.37 no longer has them; those of an older one follow from the processor of this machine.
  if (compare_versions(here.libc_version, "2.37") >= 0) here.legacy_hwcaps.clear();
  // The record's driver is there, whatever this machine has.
  constexpr const char* driver = "libcuda.so.1";
  const auto& library = platform.cuda.library;
  if (library.is_known() && library.value().note.empty())
    here.loaded.push_back({driver, path_of(library.value().path)});
  return here;
}

// Returns the problem that the file alone shows on the recorded machine.
std::optional<Diagnosis> problem_of(const Spec& spec, const binary::BinaryInfo& info,
                                    const linker::Machine& recorded) {
  const platform::Platform& platform = *spec.platform;
  const std::string file = path_text(spec.plugin);
  if (platform.os.is_known() && platform.os.value() != "linux")
    return diagnose(Code::file_for_other_system)
        .with(Key::file, file)
        .with(Key::format, info.sniffed + " for " + info.machine + ", and the recorded machine runs " +
                               platform.os.value())
        .with(Key::built_for, info.machine);
  if (auto refusal = linker::refusal_of(recorded, info, file, true)) return std::move(refusal->diagnosis);
  if (!platform.libc.is_known()) return std::nullopt;
  const platform::Libc& libc = platform.libc.value();
  std::string reported_by;
  const std::string needed_libc = libc_of(info, reported_by);
  if (!needed_libc.empty() && libc.name != needed_libc)
    return diagnose(needed_libc == "musl" ? Code::built_for_musl : Code::built_for_glibc)
        .with(Key::needed_by, file)
        .with(Key::library, reported_by)
        .with(Key::found, libc.name + " " + libc.version, record);
  if (needed_libc != "glibc") return std::nullopt;
  const std::string needs = newest_glibc(info);
  if (!needs.empty() && compare_versions(needs, libc.version) > 0)
    return diagnose(Code::c_library_too_old)
        .with(Key::file, file)
        .with(Key::required_by, file)
        .with(Key::needs, "GLIBC_" + needs, "DT_VERNEED")
        .with(Key::path, record)
        .with(Key::have, libc.name + " " + libc.version, record);
  if (std::ranges::any_of(info.version_needs,
                          [](const auto& need) { return need.version == "GLIBC_ABI_DT_RELR"; }) &&
      compare_versions(libc.version, "2.36") < 0)
    return diagnose(Code::packed_relocations)
        .with(Key::file, file)
        .with(Key::required_by, file, "DT_VERNEED")
        .with(Key::needs, "glibc 2.36")
        .with(Key::have, libc.version, record);
  return std::nullopt;
}

// Returns why this machine's libraries cannot stand for the recorded machine's; empty: they can.
std::string why_not_here(const linker::Machine& here, const linker::Machine& recorded,
                         const binary::BinaryInfo& info) {
  if (!is_native(binary::Kind::elf)) return "this machine runs another system";
  if (!here.architecture.empty() && here.architecture != info.machine)
    return "this machine is " + here.architecture;
  if (here.libc != recorded.libc)
    return std::string("this machine's C library is ") + (here.libc == linker::Libc::musl ? "musl" : "glibc");
  return {};
}

// Applies the rules of the recorded C library to the file alone.
linker::Closure close_alone(const linker::Machine& recorded, const std::filesystem::path& file,
                            const binary::BinaryInfo& info) {
  linker::Reader reader(recorded.root);
  linker::Closure alone;
  alone.file = path_text(file);
  alone.libc = recorded.libc;
  alone.objects.push_back({alone.file, alone.file, info.soname, {}, "request", -1, &info});
  linker::judge_executable_stack(recorded, {}, reader, alone);
  linker::judge_static_tls(recorded, {}, reader, alone);
  return alone;
}

// Returns what larger memory pages would do to the file, where the record has no page size; empty: nothing.
// An x86 machine has pages of 4 KiB, an arm64 machine those for which its kernel was built.
std::string unknown_page_size(const Spec& spec, const binary::BinaryInfo& info, linker::Machine machine) {
  const std::string file = path_text(spec.plugin);
  if (spec.platform->page_size.is_known() || machine.architecture == "x86_64" ||
      linker::refusal_of(machine, info, file, true))
    return {};
  for (const std::uint64_t size : {16384u, 65536u}) {
    machine.page_size = size;
    if (linker::refusal_of(machine, info, file, true))
      return "the record has no page size; the loader refuses the file where memory pages have " +
             std::to_string(size) + " bytes" + (size == 16384 ? " or more" : "");
  }
  return {};
}

}  // namespace

Report check_for_record(Spec spec, const binary::BinaryInfo& info) {
  const linker::Machine recorded = machine_of(*spec.platform, spec.machine);
  const std::string other = why_not_here(spec.machine, recorded, info);
  std::optional<Diagnosis> problem = problem_of(spec, info, recorded);
  linker::Closure alone;
  if (!problem && !other.empty()) {
    alone = close_alone(recorded, spec.plugin, info);
    if (!alone.refused.empty()) problem = alone.refused.front();
  }
  Report report;
  if (problem || !other.empty()) {
    report.file = spec.plugin;
    report.kind = info.kind;
    report.verdict = problem ? Verdict::fails : Verdict::unsure;
    report.notes.push_back(
        problem ? "judged for the recorded machine; the libraries that it needs were not searched"
                : "judged for the recorded machine from the file alone; the libraries that it needs were not "
                  "searched, because " +
                      other);
    report.diagnoses = problem ? std::vector<Diagnosis>{*problem} : alone.doubts;
    report.warnings = alone.warnings;
  } else {
    // Its other libraries come from this machine and suit the recorded C library.
    spec.machine = recorded;
    report = check(spec);
    report.notes.push_back(
        "system, processor, page size and C library are those of the recorded machine; folders and libraries "
        "are those of this machine, because a record has none");
  }
  if (const std::string pages = unknown_page_size(spec, info, recorded);
      !pages.empty() && report.verdict != Verdict::fails) {
    report.verdict = Verdict::unsure;
    report.notes.push_back(pages);
  }
  return report;
}

}  // namespace enginehost::preflight
