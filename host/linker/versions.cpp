#include "host/linker/refusals.hpp"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "base/version.hpp"

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
  Diagnosis diagnosis = diagnose("EH-F08");
  diagnosis.with("file", needer.path)
      .with("problem", "it asks for versions of " + library + ", which it does not need", "DT_VERNEED");
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
  Diagnosis diagnosis = diagnose("EH-L10");
  diagnosis.with("file", closure.file).with("required_by", object.path, "DT_RELR");
  if (!machine.libc_version.empty() && compare_versions(machine.libc_version, since) < 0) {
    // A marked library is reported through its missing version.
    if (glibc && marked) return;
    diagnosis.with("needs", (glibc ? "glibc " : "musl ") + since).with("have", machine.libc_version);
    closure.refused.push_back(std::move(diagnosis));
  } else if (glibc) {
    const bool of_libc = std::any_of(info.needed.begin(), info.needed.end(),
                                     [](const std::string& name) { return name.starts_with("libc.so."); });
    if (marked || !of_libc || info.version_needs.empty()) return;
    diagnosis.with("unmarked", "GLIBC_ABI_DT_RELR", "DT_VERNEED");
    closure.refused.push_back(std::move(diagnosis));
  } else if (machine.libc_version.empty()) {
    diagnosis.with("needs", "musl " + since);
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

void check_versions(const Machine& machine, const Reader& reader,
                    const std::unordered_map<std::string, int>& serving, Closure& closure) {
  const bool glibc = machine.libc == Libc::glibc;
  std::vector<std::unordered_set<std::string_view>> defined(closure.objects.size());
  std::map<std::string_view, HighestVersion> highest;
  for (const Object& object : closure.objects) {
    if (object.info == nullptr || object.found_by == "already loaded") continue;
    if (object.info->packed_relocations) judge_packed_relocations(machine, object, closure);
    for (const binary::VersionNeed& need : object.info->version_needs) {
      const VersionName name = parse_version_name(need.version);
      if (!is_systems_own(object) && !name.version.empty() &&
          (name.family == "GLIBC" || name.family == "GLIBCXX" || name.family == "CXXABI")) {
        HighestVersion& top = highest[name.family];
        if (top.version.empty() || compare_versions(name.version, top.version) > 0)
          top = {std::string(name.family), std::string(name.version), need.library, object.path};
      }
      if (!glibc) continue;
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

}  // namespace enginehost::linker
