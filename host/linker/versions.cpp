#include "host/linker/versions.hpp"

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

// Missing or refused, or the loader, which is in every process.
bool told_of(const Closure& closure, const Object& needer, const std::string& name) {
  return name.starts_with("ld-") || name.starts_with("ld64.") ||
         std::any_of(closure.missing.begin(), closure.missing.end(),
                     [&](const Missing& one) { return one.name == name; }) ||
         std::any_of(closure.rejected.begin(), closure.rejected.end(),
                     [&](const Rejected& one) { return one.name == name || one.path == needer.path; });
}

// glibc ends the process over versions of a library that nobody needs (elf/dl-version.c, the assertion
// `needed != NULL'), unless the program happens to hold one of that name.
void reject_unneeded(Closure& closure, const Object& needer, const std::string& library) {
  Diagnosis diagnosis = diagnose("EH-F08");
  diagnosis.with("file", needer.path)
      .with("problem", "it asks for versions of " + library + ", which it does not need", "DT_VERNEED");
  closure.rejected.push_back(
      {needer.name, needer.path, needer.needed_by, "damaged", true, std::move(diagnosis)});
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

void check_versions(Closure& closure, const std::unordered_map<std::string, int>& serving, bool glibc) {
  std::vector<std::unordered_set<std::string_view>> defined(closure.objects.size());
  std::map<std::string_view, HighestVersion> highest;
  for (const Object& object : closure.objects) {
    if (object.info == nullptr || object.found_by == "already loaded") continue;
    for (const binary::VersionNeed& need : object.info->version_needs) {
      const VersionName name = parse_version_name(need.version);
      if (!is_systems_own(object) && !name.version.empty() &&
          (name.family == "GLIBC" || name.family == "GLIBCXX" || name.family == "CXXABI")) {
        HighestVersion& top = highest[name.family];
        if (top.version.empty() || compare_versions(name.version, top.version) > 0)
          top = {std::string(name.family), std::string(name.version), need.library, object.path};
      }
      const auto found = serving.find(need.library);
      if (found == serving.end()) {
        if (glibc && !told_of(closure, object, need.library)) reject_unneeded(closure, object, need.library);
        continue;
      }
      const auto index = static_cast<std::size_t>(found->second);
      const binary::BinaryInfo* library = closure.objects[index].info;
      // A library without any definitions serves all versions (the loader only remarks on it).
      if (library == nullptr || !library->has_version_definitions) continue;
      if (defined[index].empty()) {
        defined[index].insert(library->version_definitions.begin(), library->version_definitions.end());
        defined[index].insert(library->soname);  // the base definition
      }
      if (defined[index].count(need.version) != 0) continue;
      closure.versions.push_back({need.version, need.library, closure.objects[index].path, object.path,
                                  need.weak, newest_of_family(*library, name.family)});
    }
  }
  for (auto& [family, top] : highest) closure.highest.push_back(std::move(top));
}

}  // namespace enginehost::linker
