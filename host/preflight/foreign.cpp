#include "host/preflight/foreign.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/linker/dyld.hpp"
#include "host/linker/windows.hpp"
#include "host/preflight/judgments.hpp"

namespace enginehost::preflight {
namespace {

// The rules of the Windows or the macOS loader. The spec and the reader must outlive them.
struct ForeignLoader {
  NameRules names;
  std::function<Outcome(const std::string& file, const std::vector<std::string>& preloaded, bool symbols)>
      close;
};

// Judges libraries that belong neither to the build nor to Windows. `state` is that of their provider.
void judge_provided(const char* provider, const std::vector<std::string>& names,
                    const platform::Fact<std::string>& state, Outcome& outcome) {
  if (names.empty() || state.is_known()) return;
  Diagnosis diagnosis = diagnose(Code::dll_missing);
  diagnosis.with(Key::file, outcome.closure.file);
  for (const std::string& name : names) diagnosis.with(Key::library, name, provider);
  const auto needed = std::ranges::find_if(outcome.closure.objects, [&](const linker::Object& object) {
    return std::ranges::find(names, object.name) != names.end();
  });
  if (needed != outcome.closure.objects.end()) diagnosis.with(Key::needed_by, needed->needed_by);
  (state.is_absent() ? outcome.diagnoses : outcome.doubts).push_back(std::move(diagnosis));
}

ForeignLoader windows_loader(const ForeignSpec& spec, const binary::BinaryInfo& file,
                             linker::Reader& reader) {
  linker::WindowsMachine machine;
  if (spec.windows != nullptr) {
    machine = *spec.windows;
  } else {
    machine.assume_system = true;
    // An Arm64X file suits both kinds of process; it is checked as AArch64.
    machine.architecture = file.machine == "arm64x" ? "aarch64" : file.machine;
    if (spec.platform != nullptr && spec.platform->arch.is_known())
      machine.architecture = spec.platform->arch.value();
  }
  const auto close = [&spec, &reader, machine](const std::string& name,
                                               const std::vector<std::string>& preloaded, bool symbols) {
    linker::WindowsRequest request;
    request.file = name;
    request.preloaded = preloaded;
    const linker::WindowsClosure closure = linker::close_windows(machine, request, reader);
    Outcome outcome{closure.closure, linker::diagnose_windows(closure), {}};
    const platform::Fact<std::string> unknown;
    judge_provided("Visual C++ Redistributable", closure.redistributable,
                   spec.platform != nullptr ? spec.platform->vcruntime : unknown, outcome);
    std::vector<std::string> nvidia, others;
    for (const std::string& driver : closure.driver)
      (to_lower(driver).starts_with("nv") ? nvidia : others).push_back(driver);
    judge_provided("graphics driver", nvidia, spec.platform != nullptr ? spec.platform->cuda.driver : unknown,
                   outcome);
    judge_provided("graphics driver", others, unknown, outcome);
    if (symbols)
      for (Diagnosis& missing : linker::missing_functions(machine, closure, reader))
        outcome.diagnoses.push_back(std::move(missing));
    return outcome;
  };
  return {{linker::module_name, [](const std::string& name) { return to_lower(name).ends_with(".dll"); }},
          close};
}

// Returns the processor for which a Mac would run it: the platform's, else one of the file's own, Apple
// silicon first.
std::string architecture_for(const ForeignSpec& spec, const binary::BinaryInfo& file) {
  if (spec.mac != nullptr) return spec.mac->architecture;
  if (spec.platform != nullptr && spec.platform->arch.is_known()) {
    const std::string& arch = spec.platform->arch.value();
    return arch == "arm64" ? "aarch64" : arch;
  }
  const std::vector<std::string> machines = split(file.machine, '+');
  for (const std::string& machine : machines)
    if (machine == "aarch64") return machine;
  return machines.front();
}

ForeignLoader macos_loader(const ForeignSpec& spec, const binary::BinaryInfo& file, linker::Reader& reader) {
  linker::AppleMachine machine;
  if (spec.mac != nullptr) machine = *spec.mac;
  machine.architecture = architecture_for(spec, file);
  if (spec.mac == nullptr && spec.platform != nullptr && spec.platform->distribution.is_known())
    machine.os_version = spec.platform->distribution.value().version;
  const auto close = [&reader, machine](const std::string& name, const std::vector<std::string>& preloaded,
                                        bool symbols) {
    linker::AppleRequest request;
    request.file = name;
    request.preloaded = preloaded;
    const linker::Closure closure = linker::close_macos(machine, request, reader);
    Outcome outcome{closure, linker::diagnose_macos(closure), {}};
    for (const linker::Object& object : closure.objects)
      if (!object.path.empty() && !reader.is_described())
        if (auto marked = linker::quarantine_problem(path_of(object.path)))
          outcome.doubts.push_back(std::move(*marked));
    if (symbols)
      for (Diagnosis& missing : linker::missing_macos_symbols(machine, closure))
        outcome.diagnoses.push_back(std::move(missing));
    return outcome;
  };
  // The last part of a path is the file's name; the same holds for an install name.
  return {{[](const std::string& name) { return name.substr(name.rfind('/') + 1); },
           [](const std::string& name) { return name.ends_with(".dylib") || name.ends_with(".so"); }},
          close};
}

Report check_library(const ForeignSpec& spec, const binary::BinaryInfo& file) {
  const bool windows = file.kind == binary::Kind::pe;
  linker::Reader reader({}, windows ? std::string() : architecture_for(spec, file), spec.described);
  const ForeignLoader loader =
      windows ? windows_loader(spec, file, reader) : macos_loader(spec, file, reader);
  const ViewIndex index(spec, reader, loader.names);
  Report report;
  report.file = spec.plugin;
  report.kind = file.kind;
  std::vector<std::string> order, later;
  index.add_needs(path_text(spec.plugin), order);
  if (!spec.view.empty())
    for (const std::string& library : index.libraries())
      if (std::ranges::find(order, library) == order.end()) later.push_back(library);

  const Outcome outcome = loader.close(path_text(spec.plugin), order, spec.symbols);
  take_closure(outcome.closure, report);
  report.diagnoses = outcome.diagnoses;
  if (spec.on_closure) spec.on_closure(outcome.closure, report);
  std::vector<Diagnosis> doubts = outcome.doubts;
  for (const std::string& library : later) {
    Outcome one = loader.close(library, order, false);
    one.doubts.clear();  // those of the plugin stand for them
    add_later(index, library, index.is_lazy(library), std::move(one), report, doubts);
  }
  judge_missing_lazy(index, report.diagnoses);
  settle(report, std::move(doubts));
  // Windows searches none of the build's folders for a plain name (LoadLibrary), but finds an open library by
  // it. cuDNN opens its parts, and NVRTC its builtins, by a plain name.
  for (const std::string& library : later) {
    if (!windows || !index.is_lazy(library) || index.is_optional(library)) continue;
    index.add_needs(library, order);
    if (std::ranges::find(order, library) == order.end()) order.push_back(library);
  }
  report.load_order = as_paths(order);
  return report;
}

}  // namespace

Report check_foreign(const ForeignSpec& spec) {
  linker::Reader reader({}, {}, spec.described);
  const Result<binary::BinaryInfo>& info = reader.read(path_text(spec.plugin));
  if (info && (info->kind == binary::Kind::pe || info->kind == binary::Kind::macho))
    return check_library(spec, *info);
  Report report;
  report.file = spec.plugin;
  report.verdict = Verdict::fails;
  if (!info) {
    report.diagnoses.push_back(info.error());
    return report;
  }
  report.kind = info->kind;
  report.diagnoses = info->problems;
  if (report.diagnoses.empty())
    report.diagnoses.push_back(std::move(diagnose(Code::file_for_other_system)
                                             .with(Key::file, path_text(spec.plugin))
                                             .with(Key::format, info->sniffed)));
  return report;
}

namespace {

std::vector<std::filesystem::path> dependency_stamps(const Spec& spec, const Report& report) {
  std::set<std::filesystem::path> paths;
  const auto add = [&](const std::filesystem::path& path) {
    if (!path.empty() && path != spec.plugin && (spec.view.empty() || !is_below(path, spec.view)))
      paths.insert(path);
  };
  for (const Report::Item& item : report.closure) add(path_of(item.path));
  for (const linker::Rejected& rejected : report.rejected) add(path_of(rejected.path));
  // A missing library may appear in any folder that was searched.
  for (const linker::Missing& missing : report.missing)
    for (const linker::Searched& place : missing.searched)
      add(path_of(place.directory) / path_of(missing.name).filename());
  return {paths.begin(), paths.end()};
}

}  // namespace

void finish_at_home(const Spec& spec, Report& report) {
  std::vector<Diagnosis> doubts;
  if (spec.plugin_header) judge_plugin_header(spec.plugin, spec.plugin, report.diagnoses, doubts);
  if (report.verdict != Verdict::fails)
    report.verdict = std::any_of(report.diagnoses.begin(), report.diagnoses.end(),
                                 [](const Diagnosis& one) {
                                   return one.code == Code::not_an_engine_plugin ||
                                          one.code == Code::plugin_does_not_match;
                                 })
                         ? Verdict::fails
                     : doubts.empty() ? report.verdict
                                      : Verdict::unsure;
  report.diagnoses.insert(report.diagnoses.end(), doubts.begin(), doubts.end());
  report.depends_on = dependency_stamps(spec, report);
}

}  // namespace enginehost::preflight
