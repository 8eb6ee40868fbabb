#include <algorithm>
#include <map>
#include <tuple>

#include "base/version.hpp"
#include "host/linker/linker.hpp"
#include "host/linker/refusals.hpp"

namespace enginehost::linker {
namespace {

bool is_musl_name(std::string_view name) {
  return name.starts_with("libc.musl-") || name.starts_with("ld-musl-");
}

std::string_view code_of(const Machine& machine, const Closure& closure, const Missing& missing) {
  if (machine.libc == Libc::glibc && is_musl_name(missing.name)) return "EH-L28";
  if (machine.libc == Libc::musl && missing.name.starts_with("ld-linux")) return "EH-L29";
  if (!missing.present_at.empty()) return "EH-L03";
  return missing.needed_by == closure.file ? "EH-L01" : "EH-L02";
}

std::string_view code_of(const VersionProblem& problem) {
  // Not an older C library, but one without versions.
  if (problem.unversioned) return "EH-L15";
  if (problem.version == "GLIBC_ABI_DT_RELR") return "EH-L10";
  const std::string_view family = parse_version_name(problem.version).family;
  if (family == "GLIBC") return "EH-L08";
  if (family == "GLIBCXX" || family == "CXXABI") return "EH-L09";
  return "EH-L15";
}

// For a name with a slash, the loader checks one file, whatever tokens the name has.
bool is_about(const Rejected& file, const Missing& missing) {
  return file.name == missing.name || (!missing.tried.empty() && file.path == missing.tried);
}

void add_versions(const Closure& closure, std::vector<Diagnosis>& found) {
  struct Group {
    std::tuple<std::string_view, std::string_view, std::string_view> key;  // code, found library, needer
    std::vector<const VersionProblem*> problems;
  };
  std::vector<Group> groups;
  for (const VersionProblem& problem : closure.versions) {
    if (problem.weak) continue;
    const std::tuple<std::string_view, std::string_view, std::string_view> key{code_of(problem), problem.path,
                                                                               problem.required_by};
    auto group =
        std::find_if(groups.begin(), groups.end(), [&](const Group& known) { return known.key == key; });
    if (group == groups.end()) group = groups.insert(groups.end(), Group{key, {}});
    group->problems.push_back(&problem);
  }
  for (const Group& group : groups) {
    const VersionProblem* top = group.problems.front();
    for (const VersionProblem* problem : group.problems)
      if (compare_versions(parse_version_name(problem->version).version,
                           parse_version_name(top->version).version) > 0)
        top = problem;
    Diagnosis diagnosis = diagnose(std::get<0>(group.key));
    diagnosis.with("file", closure.file)
        .with("needs", top->version, "DT_VERNEED")
        .with("library", top->library)
        .with("path", top->path)
        .with("have", top->newest, "DT_VERDEF")
        .with("required_by", top->required_by);
    for (const VersionProblem* problem : group.problems)
      diagnosis.with("version", problem->version, "DT_VERNEED");
    if (top->unversioned) diagnosis.with("unversioned", top->path, "no DT_VERSYM");
    found.push_back(std::move(diagnosis));
  }
}

}  // namespace

std::string short_reason(const Diagnosis& why) {
  return std::string(why.value(why.value("problem").empty() ? "errno" : "problem"));
}

bool reject(Closure& closure, const std::string& name, const std::string& path, int parent, Refusal refusal) {
  const std::string needed_by =
      parent < 0 ? std::string() : closure.objects[static_cast<std::size_t>(parent)].path;
  if (parent >= 0) refusal.diagnosis.with("library", name).with("needed_by", needed_by);
  closure.rejected.push_back(
      {name, path, needed_by, std::move(refusal.why), refusal.fatal, std::move(refusal.diagnosis)});
  return refusal.fatal;
}

std::vector<std::string> chain_to(const Closure& closure, int index) {
  std::vector<std::string> chain;
  for (; index >= 0; index = closure.objects[static_cast<std::size_t>(index)].parent)
    chain.insert(chain.begin(), closure.objects[static_cast<std::size_t>(index)].path);
  return chain;
}

void add_rejected(const Closure& closure, const MissingRules& rules, bool fatal,
                  std::vector<Diagnosis>& found) {
  for (const Rejected& file : closure.rejected) {
    // A skipped file matters only if nothing was found instead.
    const bool unreplaced =
        std::any_of(closure.missing.begin(), closure.missing.end(),
                    [&](const Missing& missing) { return rules.is_about(file, missing); });
    if (file.fatal == fatal && (fatal || unreplaced)) found.push_back(file.diagnosis);
  }
}

void add_missing(const Closure& closure, const MissingRules& rules, std::vector<Diagnosis>& found) {
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> groups;  // by code and needer
  for (const Missing& missing : closure.missing) {
    if (std::any_of(closure.rejected.begin(), closure.rejected.end(),
                    [&](const Rejected& file) { return !file.fatal && rules.is_about(file, missing); }))
      continue;
    const std::string_view code = rules.code(missing);
    const bool is_path = !missing.tried.empty();
    const auto group = is_path ? groups.end() : groups.find({code, missing.needed_by});
    const std::size_t at = group == groups.end() ? found.size() : group->second;
    if (at == found.size()) {
      if (!is_path) groups.emplace(std::pair(code, std::string_view(missing.needed_by)), at);
      Diagnosis diagnosis = diagnose(code);
      diagnosis.with("file", closure.file).with("needed_by", missing.needed_by, rules.table);
      for (const std::string& link : missing.chain) diagnosis.with("chain", link);
      for (const Searched& place : missing.searched)
        if (!rules.add_search)
          diagnosis.with("searched", place.directory,
                         place.exists ? place.why : place.why + ", does not exist");
      if (is_path) diagnosis.with("tried", missing.tried, "a path in DT_NEEDED");
      if (!missing.current_folder.empty()) diagnosis.with("current_folder", missing.current_folder);
      found.push_back(std::move(diagnosis));
    }
    found[at].with("library", missing.name, rules.of + missing.needed_by);
    if (rules.add_search) rules.add_search(missing, found[at]);
    for (const std::string& path : missing.present_at) found[at].with("present_at", path);
  }
}

std::vector<Diagnosis> diagnose_closure(const Machine& machine, const Closure& closure) {
  const MissingRules rules{"DT_NEEDED",
                           [&](const Missing& missing) { return code_of(machine, closure, missing); },
                           &is_about, "DT_NEEDED of "};
  std::vector<Diagnosis> found;
  add_rejected(closure, rules, true, found);
  // The requested file's own problem comes before those of its libraries.
  std::stable_partition(found.begin(), found.end(),
                        [&](const Diagnosis& diagnosis) { return diagnosis.value("file") == closure.file; });
  add_rejected(closure, rules, false, found);
  // The development file libc.so is a linker script; only libraries built for musl need that name.
  for (Diagnosis& diagnosis : found)
    if (machine.libc == Libc::glibc && diagnosis.code == "EH-F10" && diagnosis.value("library") == "libc.so")
      diagnosis.code = "EH-L28";
  add_missing(closure, rules, found);
  add_versions(closure, found);
  found.insert(found.end(), closure.refused.begin(), closure.refused.end());
  return found;
}

}  // namespace enginehost::linker
