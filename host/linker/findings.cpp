#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_set>

#include "base/version.hpp"
#include "host/linker/linker.hpp"
#include "host/linker/refusals.hpp"

namespace enginehost::linker {
namespace {

std::string newest_of_family(const binary::BinaryInfo& info, std::string_view family) {
  std::string newest;
  for (const std::string& definition : info.version_definitions) {
    const VersionName name = parse_version_name(definition);
    if (name.version.empty() || name.family != family) continue;
    if (newest.empty() || compare_versions(name.version, parse_version_name(newest).version) > 0)
      newest = definition;
  }
  return newest;
}

bool is_systems_own(const Object& object) {
  return object.found_by == "ld.so.cache" || object.found_by == "default" ||
         object.found_by == "already loaded";
}

// Returns whether the library is missing or refused, which is reported elsewhere, or is the loader, which
// every process has.
bool is_reported_elsewhere(const Closure& closure, const Object& needer, const std::string& name) {
  return name.starts_with("ld-") || name.starts_with("ld64.") ||
         std::any_of(closure.missing.begin(), closure.missing.end(),
                     [&](const Missing& one) { return one.name == name; }) ||
         std::any_of(closure.rejected.begin(), closure.rejected.end(),
                     [&](const Rejected& one) { return one.name == name || one.path == needer.path; });
}

// glibc aborts for needed versions of a library that no library needs (elf/dl-version.c, the assertion
// `needed != NULL'), unless the program has one of that name.
void reject_unneeded(Closure& closure, const Object& needer, const std::string& library) {
  Diagnosis diagnosis = diagnose(Code::file_damaged);
  diagnosis.with(Key::file, needer.path)
      .with(Key::problem, "it asks for versions of " + library + ", which it does not need", "DT_VERNEED");
  closure.rejected.push_back(
      {needer.name, needer.path, needer.needed_by, "damaged", true, std::move(diagnosis)});
}

// Returns whether glibc makes a table of the file's symbol versions (elf/dl-version.c, l_versyms); the file
// must name some.
bool has_versions(const binary::BinaryInfo& info) {
  return info.has_version_symbols && (info.has_version_definitions || !info.version_needs.empty());
}

// Returns whether a needed symbol is in the library, but the library has no versions: glibc aborts then
// (elf/dl-lookup.c, the assertion in check_match). A symbol that it does not have is looked up elsewhere.
bool takes_unversioned(const Reader& reader, const Object& needer, const binary::VersionNeed& need,
                       const Object& server) {
  const auto asked = binary::read_symbols(reader.on_disk(needer.path));
  const auto offered = binary::read_symbols(reader.on_disk(server.path));
  if (!asked || !offered) return false;
  std::unordered_set<std::string_view> names;
  for (const binary::Symbol& symbol : asked->imports)
    if (symbol.version == need.version && symbol.library == need.library) names.insert(symbol.name);
  return std::any_of(offered->exports.begin(), offered->exports.end(),
                     [&](const binary::Symbol& symbol) { return names.contains(symbol.name); });
}

// DT_RELR: a C library that does not support it (glibc before 2.36, musl before 1.2.4) silently leaves the
// library unrelocated. Newer glibc refuses a library that needs versions of the C library but not the mark
// GLIBC_ABI_DT_RELR, by which an older glibc would have refused it (elf/dl-version.c, the end of
// _dl_check_map_versions).
void judge_packed_relocations(const Machine& machine, const Object& object, Closure& closure) {
  const binary::BinaryInfo& info = *object.info;
  const bool glibc = machine.libc == Libc::glibc;
  const std::string since = glibc ? "2.36" : "1.2.4";
  const bool marked = std::any_of(info.version_needs.begin(), info.version_needs.end(),
                                  [](const auto& need) { return need.version == "GLIBC_ABI_DT_RELR"; });
  Diagnosis diagnosis = diagnose(Code::packed_relocations);
  diagnosis.with(Key::file, closure.file).with(Key::required_by, object.path, "DT_RELR");
  if (!machine.libc_version.empty() && compare_versions(machine.libc_version, since) < 0) {
    // A marked library is reported through its missing version.
    if (glibc && marked) return;
    diagnosis.with(Key::needs, (glibc ? "glibc " : "musl ") + since).with(Key::have, machine.libc_version);
    closure.refused.push_back(std::move(diagnosis));
  } else if (glibc) {
    const bool of_libc = std::any_of(info.needed.begin(), info.needed.end(),
                                     [](const std::string& name) { return name.starts_with("libc.so."); });
    if (marked || !of_libc || info.version_needs.empty()) return;
    diagnosis.with(Key::unmarked, "GLIBC_ABI_DT_RELR", "DT_VERNEED");
    closure.refused.push_back(std::move(diagnosis));
  } else if (machine.libc_version.empty()) {
    diagnosis.with(Key::needs, "musl " + since);
    closure.doubts.push_back(std::move(diagnosis));
  }
}

}  // namespace

VersionName parse_version_name(std::string_view name) {
  const std::size_t mark = name.find('_');
  if (mark == std::string_view::npos) return {name, {}};
  const std::string_view version = name.substr(mark + 1);
  const bool dotted = !version.empty() && std::all_of(version.begin(), version.end(), [](char c) {
    return (c >= '0' && c <= '9') || c == '.';
  });
  return {name.substr(0, mark), dotted ? version : std::string_view{}};
}

namespace {

// Returns whether a recorded C library defines the version of its own; absent: its number does not show it.
std::optional<bool> recorded_libc_has(const Machine& machine, std::string_view version) {
  const VersionName name = parse_version_name(version);
  if (!machine.recorded || machine.libc_version.empty() || name.family != "GLIBC") return std::nullopt;
  if (version == "GLIBC_ABI_DT_RELR") return compare_versions(machine.libc_version, "2.36") >= 0;
  if (name.version.empty()) return std::nullopt;
  return compare_versions(machine.libc_version, name.version) >= 0;
}

}  // namespace

void check_versions(const Machine& machine, const Reader& reader,
                    const std::unordered_map<std::string, int>& serving, Closure& closure) {
  const bool glibc = machine.libc == Libc::glibc;
  std::vector<std::unordered_set<std::string_view>> defined(closure.objects.size());
  std::map<std::string_view, HighestVersion> highest;
  for (const Object& object : closure.objects) {
    if (object.info == nullptr || object.found_by == "already loaded") continue;
    const bool suits_record = machine.recorded && is_systems_own(object);
    if (object.info->packed_relocations && !suits_record) judge_packed_relocations(machine, object, closure);
    for (const binary::VersionNeed& need : object.info->version_needs) {
      const VersionName name = parse_version_name(need.version);
      if (!is_systems_own(object) && !name.version.empty() &&
          (name.family == "GLIBC" || name.family == "GLIBCXX" || name.family == "CXXABI")) {
        HighestVersion& top = highest[name.family];
        if (top.version.empty() || compare_versions(name.version, top.version) > 0)
          top = {std::string(name.family), std::string(name.version), need.library, object.path};
      }
      if (!glibc) continue;
      if (const std::optional<bool> has = recorded_libc_has(machine, need.version)) {
        if (!*has && !suits_record)
          closure.versions.push_back({need.version, need.library, "the recorded machine", object.path,
                                      need.weak, "GLIBC_" + machine.libc_version});
        continue;
      }
      const auto found = serving.find(need.library);
      if (found == serving.end()) {
        if (!is_reported_elsewhere(closure, object, need.library))
          reject_unneeded(closure, object, need.library);
        continue;
      }
      const auto index = static_cast<std::size_t>(found->second);
      const Object& server = closure.objects[index];
      const binary::BinaryInfo* library = server.info;
      if (library == nullptr) continue;
      // A library without any definitions serves all versions (the loader only warns) ...
      if (!library->has_version_definitions) {
        // ... as long as it has a table of symbol versions.
        if (!has_versions(*library) && takes_unversioned(reader, object, need, server))
          closure.versions.push_back({need.version, need.library, server.path, object.path, false, {}, true});
        continue;
      }
      if (defined[index].empty()) {
        defined[index].insert(library->version_definitions.begin(), library->version_definitions.end());
        defined[index].insert(library->soname);  // the base definition
      }
      if (defined[index].count(need.version) != 0) continue;
      closure.versions.push_back({need.version, need.library, server.path, object.path, need.weak,
                                  newest_of_family(*library, name.family)});
    }
  }
  for (auto& [family, top] : highest) closure.highest.push_back(std::move(top));
}

namespace {

bool is_musl_name(std::string_view name) {
  return name.starts_with("libc.musl-") || name.starts_with("ld-musl-");
}

Code code_of(const Machine& machine, const Closure& closure, const Missing& missing) {
  if (machine.libc == Libc::glibc && is_musl_name(missing.name)) return Code::built_for_musl;
  if (machine.libc == Libc::musl && missing.name.starts_with("ld-linux")) return Code::built_for_glibc;
  if (!missing.present_at.empty()) return Code::library_not_where_loader_looks;
  return missing.needed_by == closure.file ? Code::library_missing : Code::library_missing_indirectly;
}

Code code_of(const VersionProblem& problem) {
  // Not an older C library, but one without versions.
  if (problem.unversioned) return Code::symbol_version_missing;
  if (problem.version == "GLIBC_ABI_DT_RELR") return Code::packed_relocations;
  const std::string_view family = parse_version_name(problem.version).family;
  if (family == "GLIBC") return Code::c_library_too_old;
  if (family == "GLIBCXX" || family == "CXXABI") return Code::cpp_runtime_too_old;
  return Code::symbol_version_missing;
}

// For a name with a slash, the loader checks one file, whatever tokens the name has.
bool is_about(const Rejected& file, const Missing& missing) {
  return file.name == missing.name || (!missing.tried.empty() && file.path == missing.tried);
}

void add_versions(const Closure& closure, std::vector<Diagnosis>& found) {
  struct Group {
    std::tuple<Code, std::string_view, std::string_view> key;  // code, found library, needer
    std::vector<const VersionProblem*> problems;
  };
  std::vector<Group> groups;
  for (const VersionProblem& problem : closure.versions) {
    if (problem.weak) continue;
    const std::tuple<Code, std::string_view, std::string_view> key{code_of(problem), problem.path,
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
    diagnosis.with(Key::file, closure.file)
        .with(Key::needs, top->version, "DT_VERNEED")
        .with(Key::library, top->library)
        .with(Key::path, top->path)
        .with(Key::have, top->newest, "DT_VERDEF")
        .with(Key::required_by, top->required_by);
    for (const VersionProblem* problem : group.problems)
      diagnosis.with(Key::version, problem->version, "DT_VERNEED");
    if (top->unversioned) diagnosis.with(Key::unversioned, top->path, "no DT_VERSYM");
    found.push_back(std::move(diagnosis));
  }
}

}  // namespace

std::string short_reason(const Diagnosis& why) {
  return std::string(why.value(why.value(Key::problem).empty() ? Key::errno_ : Key::problem));
}

bool reject(Closure& closure, const std::string& name, const std::string& path, int parent, Refusal refusal) {
  const std::string needed_by =
      parent < 0 ? std::string() : closure.objects[static_cast<std::size_t>(parent)].path;
  if (parent >= 0) refusal.diagnosis.with(Key::library, name).with(Key::needed_by, needed_by);
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
  std::map<std::pair<Code, std::string_view>, std::size_t> groups;  // by code and needer
  for (const Missing& missing : closure.missing) {
    if (std::any_of(closure.rejected.begin(), closure.rejected.end(),
                    [&](const Rejected& file) { return !file.fatal && rules.is_about(file, missing); }))
      continue;
    const Code code = rules.code(missing);
    const bool is_path = !missing.tried.empty();
    const auto group = is_path ? groups.end() : groups.find({code, missing.needed_by});
    const std::size_t at = group == groups.end() ? found.size() : group->second;
    if (at == found.size()) {
      if (!is_path) groups.emplace(std::pair(code, std::string_view(missing.needed_by)), at);
      Diagnosis diagnosis = diagnose(code);
      diagnosis.with(Key::file, closure.file).with(Key::needed_by, missing.needed_by, rules.table);
      for (const std::string& link : missing.chain) diagnosis.with(Key::chain, link);
      for (const Searched& place : missing.searched)
        if (!rules.add_search)
          diagnosis.with(Key::searched, place.directory,
                         place.exists ? place.why : place.why + ", does not exist");
      if (is_path) diagnosis.with(Key::tried, missing.tried, "a path in DT_NEEDED");
      if (!missing.current_folder.empty()) diagnosis.with(Key::current_folder, missing.current_folder);
      found.push_back(std::move(diagnosis));
    }
    found[at].with(Key::library, missing.name, rules.of + missing.needed_by);
    if (rules.add_search) rules.add_search(missing, found[at]);
    for (const std::string& path : missing.present_at) found[at].with(Key::present_at, path);
  }
}

std::vector<Diagnosis> diagnose_closure(const Machine& machine, const Closure& closure) {
  const MissingRules rules{"DT_NEEDED",
                           [&](const Missing& missing) { return code_of(machine, closure, missing); },
                           &is_about, "DT_NEEDED of "};
  std::vector<Diagnosis> found;
  add_rejected(closure, rules, true, found);
  // The requested file's own problem comes before those of its libraries.
  std::stable_partition(found.begin(), found.end(), [&](const Diagnosis& diagnosis) {
    return diagnosis.value(Key::file) == closure.file;
  });
  add_rejected(closure, rules, false, found);
  // The development file libc.so is a linker script; only libraries built for musl need that name.
  for (Diagnosis& diagnosis : found)
    if (machine.libc == Libc::glibc && diagnosis.code == Code::not_a_shared_library &&
        diagnosis.value(Key::library) == "libc.so")
      diagnosis.code = Code::built_for_musl;
  add_missing(closure, rules, found);
  add_versions(closure, found);
  found.insert(found.end(), closure.refused.begin(), closure.refused.end());
  return found;
}

}  // namespace enginehost::linker
