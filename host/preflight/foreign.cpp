#include "host/preflight/foreign.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/preflight/foreign_loader.hpp"

namespace enginehost::preflight {
namespace {

class Check {
 public:
  Check(const ForeignSpec& spec, const binary::BinaryInfo& file)
      : spec_(spec),
        loader_(file.kind == binary::Kind::pe ? windows_loader(spec, file) : macos_loader(spec, file)) {
    report_.file = spec.file;
    report_.kind = file.kind;
    list_libraries();
  }

  Report run() {
    add_needs(path_text(spec_.file), 0);
    order_.erase(std::remove(order_.begin(), order_.end(), path_text(spec_.file)), order_.end());
    const std::vector<std::string> own = order_;
    std::vector<std::string> later;
    if (!spec_.view.empty())
      for (const std::string& library : libraries_)
        if (std::find(own.begin(), own.end(), library) == own.end()) later.push_back(library);

    ForeignLoader::Outcome outcome = loader_->close(path_text(spec_.file), own);
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
    folders.push_back(spec_.file.parent_path());
    for (const std::filesystem::path& folder : folders) {
      for (const std::string& name : loader_->names_in(folder)) {
        if (!loader_->looks_like_library(name)) continue;
        const std::string path = path_text(folder / path_of(name));
        if (path != path_text(spec_.file) && by_name_.emplace(loader_->key(name), path).second)
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
      if (lazy(library) && !optional(library)) add_needs(library, 0);
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

  bool optional(const std::string& path) const {
    if (!is_below(path_of(path), spec_.view)) return false;
    const std::string inside = generic_text(path_of(path).lexically_relative(spec_.view));
    return std::any_of(spec_.optional.begin(), spec_.optional.end(),
                       [&](const std::string& pattern) { return matches_pattern(inside, pattern); });
  }
  bool lazy(const std::string& path) const {
    return std::any_of(spec_.lazy.begin(), spec_.lazy.end(),
                       [&](const std::string& name) { return loader_->key(name) == loader_->key(path); });
  }

  // Checks a library of the build that the plugin may open while it runs.
  void check_later(const std::string& library, const std::vector<std::string>& preloaded) {
    const ForeignLoader::Outcome outcome = loader_->close(library, preloaded);
    if (outcome.diagnoses.empty()) return;
    if (optional(library)) {
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
    diagnosis.with("file", path_text(spec_.file));
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
  const Result<binary::BinaryInfo>& info = reader.read(path_text(spec.file));
  if (info && (info->kind == binary::Kind::pe || info->kind == binary::Kind::macho))
    return Check(spec, *info).run();
  Report report;
  report.file = spec.file;
  report.verdict = Verdict::fails;
  if (!info) {
    report.diagnoses.push_back(info.error());
    return report;
  }
  report.kind = info->kind;
  report.diagnoses = info->problems;
  if (report.diagnoses.empty())
    report.diagnoses.push_back(
        std::move(diagnose("EH-F09").with("file", path_text(spec.file)).with("format", info->sniffed)));
  return report;
}

}  // namespace enginehost::preflight
