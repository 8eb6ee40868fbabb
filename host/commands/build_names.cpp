#include "host/commands/build_names.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "host/commands/arguments.hpp"
#include "host/resolve/version_specifier.hpp"

namespace enginehost::commands {
namespace {

Result<std::string> one_of(const std::string& given, const std::set<std::string>& matches,
                           const std::string& kind) {
  if (matches.empty()) return given;
  if (matches.size() == 1) return *matches.begin();
  return fail(wrong_usage(
      "engine-cache", "\"" + given + "\" matches " + std::to_string(matches.size()) + " " + kind +
                          ", so more of the id is needed: " + join({matches.begin(), matches.end()}, ", ")));
}

// ENGINE, ENGINE@VERSION, ENGINE-VERSION or ENGINE-VERSION-FLAVOR.
bool has_name(const KnownBuild& build, const std::string& given) {
  if (build.engine.empty()) return false;
  if (given == build.engine || given == build.engine + "-" + build.version ||
      given == build.engine + "-" + build.version + "-" + build.flavor)
    return true;
  const std::size_t at = given.find('@');
  if (at == std::string::npos || given.substr(0, at) != build.engine) return false;
  const std::string version = given.substr(at + 1);
  return !version.empty() && resolve::VersionSpecifier(version).accepts(build.version);
}

std::vector<KnownBuild> known_builds(const std::vector<cache::Installed>& installed, bool read_only) {
  std::vector<KnownBuild> known;
  for (const cache::Installed& one : installed)
    if (one.read_only == read_only) known.push_back({one.build, one.engine, one.version, one.flavor});
  return known;
}

}  // namespace

Result<std::string> build_named(const std::string& given, const std::vector<KnownBuild>& known) {
  if (given.empty()) return given;
  std::set<std::string> named, begun;
  for (const KnownBuild& build : known) {
    if (build.id == given) return given;
    if (has_name(build, given)) named.insert(build.id);
    if (build.id.starts_with(given)) begun.insert(build.id);
  }
  return one_of(given, named.empty() ? begun : named, "builds");
}

Result<std::string> installed_build(const cache::Store& store, const std::string& given) {
  // A record that cannot be read is still that of a whole id.
  if (const auto record = store.record_of(given); given.empty() || !record || *record) return given;
  const std::vector<cache::Installed> installed = store.list();
  for (const bool read_only : {false, true}) {
    TRY_ASSIGN(std::string id, build_named(given, known_builds(installed, read_only)));
    if (id != given) return id;
  }
  return given;
}

Result<std::string> id_beginning_with(const std::string& given, const std::vector<std::string>& ids,
                                      const std::string& kind) {
  std::set<std::string> begun;
  for (const std::string& id : ids) {
    if (id == given) return given;
    if (!given.empty() && id.starts_with(given)) begun.insert(id);
  }
  return one_of(given, begun, kind);
}

}  // namespace enginehost::commands
