// Common interface to the rules of the Windows and macOS loaders, for check_foreign().
#include "host/preflight/foreign.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/linker/dyld.hpp"
#include "host/linker/windows_names.hpp"
#include "host/preflight/judgments.hpp"

namespace enginehost::preflight {
namespace {

// The rules of the Windows or the macOS loader.
class ForeignLoader {
 public:
  struct Outcome {
    linker::Closure closure;
    std::vector<Diagnosis> diagnoses;  // why it fails, worst first
    std::vector<Diagnosis> doubts;     // libraries that come with neither the build nor the system
  };
  explicit ForeignLoader(linker::Reader reader) : reader_(std::move(reader)) {}
  virtual ~ForeignLoader() = default;
  // Names that the file requests, without weak and delayed ones; empty when it cannot be read.
  std::vector<std::string> needs(const std::string& file) {
    const auto& info = reader_.read(file);
    return info ? info->needed : std::vector<std::string>{};
  }
  std::vector<std::string> names_in(const std::filesystem::path& folder) const {
    return reader_.names_in(path_text(folder));
  }
  // The key under which a file satisfies a need; accepts a path or a requested name.
  virtual std::string key(const std::string& name) const = 0;
  virtual bool looks_like_library(const std::string& name) const = 0;
  virtual Outcome close(const std::string& file, const std::vector<std::string>& preloaded) = 0;
  // Runs the symbol pass over the closure of the last close().
  virtual std::vector<Diagnosis> missing_symbols() = 0;

 protected:
  linker::Reader reader_;
};

class WindowsLoader final : public ForeignLoader {
 public:
  WindowsLoader(const ForeignSpec& spec, const binary::BinaryInfo& file)
      : ForeignLoader(linker::Reader({}, {}, spec.described)), spec_(spec) {
    if (spec.windows != nullptr) {
      machine_ = *spec.windows;
      return;
    }
    machine_.assume_system = true;
    machine_.architecture = file.machine;
    // An Arm64X file suits both kinds of process; it is checked as AArch64.
    if (file.machine == "arm64x") machine_.architecture = "aarch64";
    if (spec.platform != nullptr && spec.platform->arch.is_known())
      machine_.architecture = spec.platform->arch.value();
  }

  std::string key(const std::string& name) const override { return linker::module_name(name); }
  bool looks_like_library(const std::string& name) const override { return to_lower(name).ends_with(".dll"); }

  Outcome close(const std::string& file, const std::vector<std::string>& preloaded) override {
    linker::WindowsRequest request;
    request.file = file;
    request.preloaded = preloaded;
    closure_ = linker::close_windows(machine_, request, reader_);
    Outcome outcome{closure_.closure, linker::diagnose_windows(closure_), {}};
    judge("Visual C++ Redistributable", closure_.redistributable,
          spec_.platform ? state_of(spec_.platform->vcruntime) : State::unknown, outcome);
    std::vector<std::string> nvidia, others;
    for (const std::string& name : closure_.driver)
      (to_lower(name).starts_with("nv") ? nvidia : others).push_back(name);
    judge("graphics driver", nvidia, spec_.platform ? state_of(spec_.platform->cuda.driver) : State::unknown,
          outcome);
    judge("graphics driver", others, State::unknown, outcome);
    return outcome;
  }
  std::vector<Diagnosis> missing_symbols() override {
    return linker::missing_functions(machine_, closure_, reader_);
  }

 private:
  enum class State { there, absent, unknown };
  static State state_of(const platform::Fact<std::string>& fact) {
    return fact.is_known() ? State::there : fact.is_absent() ? State::absent : State::unknown;
  }

  // Judges libraries that belong neither to the build nor to Windows.
  void judge(const char* provider, const std::vector<std::string>& names, State state,
             Outcome& outcome) const {
    if (names.empty() || state == State::there) return;
    Diagnosis diagnosis = diagnose("EH-W01");
    diagnosis.with("file", outcome.closure.file);
    for (const std::string& name : names) diagnosis.with("library", name, provider);
    for (const linker::Object& object : outcome.closure.objects)
      if (std::find(names.begin(), names.end(), object.name) != names.end()) {
        diagnosis.with("needed_by", object.needed_by);
        break;
      }
    (state == State::absent ? outcome.diagnoses : outcome.doubts).push_back(std::move(diagnosis));
  }

  const ForeignSpec& spec_;
  linker::WindowsMachine machine_;
  linker::WindowsClosure closure_;
};

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

class MacosLoader final : public ForeignLoader {
 public:
  MacosLoader(const ForeignSpec& spec, const binary::BinaryInfo& file)
      : ForeignLoader(linker::Reader({}, architecture_for(spec, file), spec.described)) {
    if (spec.mac != nullptr) machine_ = *spec.mac;
    machine_.architecture = architecture_for(spec, file);
    if (spec.mac == nullptr && spec.platform != nullptr && spec.platform->distribution.is_known())
      machine_.os_version = spec.platform->distribution.value().version;
  }

  // The last part of a path is the file's name; the same holds for an install name.
  std::string key(const std::string& name) const override { return name.substr(name.rfind('/') + 1); }
  bool looks_like_library(const std::string& name) const override {
    return name.ends_with(".dylib") || name.ends_with(".so");
  }

  Outcome close(const std::string& file, const std::vector<std::string>& preloaded) override {
    linker::AppleRequest request;
    request.file = file;
    request.preloaded = preloaded;
    closure_ = linker::close_macos(machine_, request, reader_);
    Outcome outcome{closure_, linker::diagnose_macos(closure_), {}};
    for (const linker::Object& object : closure_.objects)
      if (!object.path.empty() && !reader_.is_described())
        if (auto marked = linker::quarantine_problem(path_of(object.path)))
          outcome.doubts.push_back(std::move(*marked));
    return outcome;
  }
  std::vector<Diagnosis> missing_symbols() override {
    return linker::missing_macos_symbols(machine_, closure_);
  }

 private:
  linker::AppleMachine machine_;
  linker::Closure closure_;
};

std::unique_ptr<ForeignLoader> loader_for(const ForeignSpec& spec, const binary::BinaryInfo& file) {
  if (file.kind == binary::Kind::pe) return std::make_unique<WindowsLoader>(spec, file);
  return std::make_unique<MacosLoader>(spec, file);
}

class ForeignCheck {
 public:
  ForeignCheck(const ForeignSpec& spec, const binary::BinaryInfo& file)
      : spec_(spec), loader_(loader_for(spec, file)) {
    report_.file = spec.plugin;
    report_.kind = file.kind;
    list_libraries();
  }

  Report run() {
    add_needs(path_text(spec_.plugin), 0);
    order_.erase(std::remove(order_.begin(), order_.end(), path_text(spec_.plugin)), order_.end());
    const std::vector<std::string> own = order_;
    std::vector<std::string> later;
    if (!spec_.view.empty())
      for (const std::string& library : libraries_)
        if (std::find(own.begin(), own.end(), library) == own.end()) later.push_back(library);

    ForeignLoader::Outcome outcome = loader_->close(path_text(spec_.plugin), own);
    if (spec_.symbols)
      for (Diagnosis& diagnosis : loader_->missing_symbols())
        outcome.diagnoses.push_back(std::move(diagnosis));
    take(outcome);
    for (const std::string& library : later) check_later(library, own);
    check_missing_lazy();
    if (!report_.diagnoses.empty())
      report_.verdict = Verdict::fails;
    else if (!doubts_.empty())
      report_.verdict = Verdict::unsure;
    report_.diagnoses.insert(report_.diagnoses.end(), doubts_.begin(), doubts_.end());
    if (report_.kind == binary::Kind::pe) add_opened_by_name(later);
    for (const std::string& library : order_) report_.load_order.push_back(path_of(library));
    return std::move(report_);
  }

 private:
  void list_libraries() {
    std::vector<std::filesystem::path> folders = spec_.search;
    folders.push_back(spec_.plugin.parent_path());
    for (const std::filesystem::path& folder : folders) {
      for (const std::string& name : loader_->names_in(folder)) {
        if (!loader_->looks_like_library(name)) continue;
        const std::string path = path_text(folder / path_of(name));
        if (path != path_text(spec_.plugin) && by_name_.emplace(loader_->key(name), path).second)
          libraries_.push_back(path);
      }
    }
  }

  // Adds the build's own libraries that `file` needs, leaves first, and finally the file itself.
  void add_needs(const std::string& file, int depth) {
    constexpr int deepest = 256;  // deeper chains only come from damaged or malicious files
    if (depth == deepest || !visited_.insert(file).second) return;
    for (const std::string& name : loader_->needs(file))
      if (const auto own = by_name_.find(loader_->key(name)); own != by_name_.end())
        add_needs(own->second, depth + 1);
    order_.push_back(file);
  }

  // Windows searches none of the build's folders for a plain name (LoadLibrary), but finds an open library by
  // it. cuDNN opens its parts, and NVRTC its builtins, by a plain name.
  void add_opened_by_name(const std::vector<std::string>& later) {
    for (const std::string& library : later)
      if (lazy(library) && !is_optional(spec_, library)) add_needs(library, 0);
  }

  void take(const ForeignLoader::Outcome& outcome) {
    report_.missing = outcome.closure.missing;
    report_.rejected = outcome.closure.rejected;
    for (const linker::Object& object : outcome.closure.objects)
      if (object.found_by != "already loaded")
        report_.closure.push_back({object.name, object.path, object.needed_by});
    report_.warnings = outcome.closure.warnings;
    report_.diagnoses = outcome.diagnoses;
    if (spec_.on_closure) spec_.on_closure(outcome.closure, report_);
    doubts_ = outcome.doubts;
  }

  bool lazy(const std::string& path) const {
    return std::any_of(spec_.lazy.begin(), spec_.lazy.end(),
                       [&](const std::string& name) { return loader_->key(name) == loader_->key(path); });
  }

  // Checks a library of the build that the plugin may open while it runs.
  void check_later(const std::string& library, const std::vector<std::string>& preloaded) {
    const ForeignLoader::Outcome outcome = loader_->close(library, preloaded);
    if (outcome.diagnoses.empty()) return;
    if (is_optional(spec_, library)) {
      report_.left_out.push_back(path_of(library));
      Diagnosis warning = outcome.diagnoses.front();
      report_.warnings.push_back(std::move(warning.with("left_out", library, "optional in the manifest")));
      return;
    }
    const bool certain = lazy(library);
    auto& into = certain ? report_.diagnoses : doubts_;
    into.insert(into.end(), outcome.diagnoses.begin(), outcome.diagnoses.end());
    auto& missing = certain ? report_.missing : report_.missing_later;
    missing.insert(missing.end(), outcome.closure.missing.begin(), outcome.closure.missing.end());
    if (!certain) return;
    report_.rejected.insert(report_.rejected.end(), outcome.closure.rejected.begin(),
                            outcome.closure.rejected.end());
  }

  void check_missing_lazy() {
    Diagnosis diagnosis = diagnose("EH-R15");
    for (const std::string& name : spec_.lazy)
      if (by_name_.count(loader_->key(name)) == 0) diagnosis.with("library", name, "the manifest's \"lazy\"");
    if (diagnosis.evidence.empty()) return;
    diagnosis.with("file", path_text(spec_.plugin));
    for (const std::filesystem::path& folder : spec_.search) diagnosis.with("searched", path_text(folder));
    report_.diagnoses.push_back(std::move(diagnosis));
  }

  const ForeignSpec& spec_;
  std::unique_ptr<ForeignLoader> loader_;
  std::vector<std::string> libraries_;
  std::map<std::string, std::string> by_name_;
  std::set<std::string> visited_;
  std::vector<std::string> order_;
  std::vector<Diagnosis> doubts_;
  Report report_;
};

}  // namespace

Report check_foreign(const ForeignSpec& spec) {
  linker::Reader reader({}, {}, spec.described);
  const Result<binary::BinaryInfo>& info = reader.read(path_text(spec.plugin));
  if (info && (info->kind == binary::Kind::pe || info->kind == binary::Kind::macho))
    return ForeignCheck(spec, *info).run();
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
    report.diagnoses.push_back(
        std::move(diagnose("EH-F09").with("file", path_text(spec.plugin)).with("format", info->sniffed)));
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
    report.verdict =
        std::any_of(report.diagnoses.begin(), report.diagnoses.end(),
                    [](const Diagnosis& one) { return one.code == "EH-R11" || one.code == "EH-R12"; })
            ? Verdict::fails
        : doubts.empty() ? report.verdict
                         : Verdict::unsure;
  report.diagnoses.insert(report.diagnoses.end(), doubts.begin(), doubts.end());
  report.depends_on = dependency_stamps(spec, report);
}

namespace {

void append(std::vector<linker::Missing>& to, std::vector<linker::Missing> more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

Report check_described_elf(const Spec& spec, const linker::DescribedFiles& files) {
  linker::Reader reader({}, {}, &files);
  const ViewIndex index(spec, reader);
  const LoadOrder opening = load_order_of(spec, index, reader);
  const linker::Closure closure = close_after(spec, reader, path_text(spec.plugin), opening.before);
  Report report;
  report.missing = closure.missing;
  for (const std::string& library : opening.later) {
    if (closure.find(library) != nullptr || is_optional(spec, library)) continue;
    append(is_lazy(spec, library) ? report.missing : report.missing_later,
           close_after(spec, reader, library, opening.before).missing);
  }
  return report;
}

}  // namespace

std::string in_described_view(const std::string& path) { return std::string(described_view) + "/" + path; }

std::string view_path_of(const std::string& path) {
  return generic_text(path_of(path).lexically_normal().lexically_relative(path_of(described_view)));
}

Report check_described(const DescribedBuild& build) {
  Report report;
  const std::string plugin = in_described_view(build.plugin);
  const binary::BinaryInfo* info = build.files.find(plugin);
  if (info == nullptr || std::filesystem::path::preferred_separator != '/') return report;
  Spec spec;
  spec.view = path_of(described_view);
  spec.plugin = path_of(plugin);
  for (const std::string& folder : build.search) spec.search.push_back(path_of(in_described_view(folder)));
  spec.optional = build.optional;
  spec.lazy = build.lazy;
  spec.machine.root = "described";  // a root of its own, so that nothing is read from the running system
  spec.machine.libc = build.musl ? linker::Libc::musl : linker::Libc::glibc;
  spec.machine.architecture = info->machine;
  if (info->kind == binary::Kind::elf) return check_described_elf(spec, build.files);
  return check_foreign({spec, nullptr, nullptr, &build.files});
}

}  // namespace enginehost::preflight
