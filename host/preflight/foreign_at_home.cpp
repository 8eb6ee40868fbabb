#include "host/preflight/native.hpp"

#include <algorithm>
#include <set>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "host/preflight/judgments.hpp"

namespace enginehost::preflight {
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

ForeignSpec foreign_spec_of(const Spec& spec) {
  ForeignSpec foreign;
  foreign.view = spec.view;
  foreign.file = spec.plugin;
  foreign.search = spec.search;
  foreign.optional = spec.optional;
  foreign.lazy = spec.lazy;
  foreign.platform = spec.platform;
  foreign.symbols = spec.symbols;
  return foreign;
}

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

}  // namespace enginehost::preflight
