#include "tools/follow/draft.hpp"

#include <algorithm>
#include <optional>

#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "base/version.hpp"

namespace enginehost::follow {
namespace {

// "toy-{version}-cu{cuda_digits}" of 1.0 is "toy-1.0-cu*".
std::string pattern_of(const std::string& id, const std::string& version) {
  std::string pattern;
  for (std::size_t at = 0; at < id.size(); ++at) {
    if (id[at] != '{') {
      pattern += id[at];
      continue;
    }
    const std::size_t end = id.find('}', at);
    pattern += id.substr(at, end + 1 - at) == "{version}" ? version : "*";
    at = end;
  }
  return pattern;
}

}  // namespace

std::string id_pattern(const Row& row, const std::string& version) {
  return pattern_of(row.build["id"].as_string(), version);
}

namespace {

bool has_id(const Json& builds, const Json& id) {
  return std::any_of(builds.as_array().begin(), builds.as_array().end(),
                     [&](const Json& one) { return one["id"] == id; });
}

// Compares fields before the id, because a pattern's "*" may fit another row of the plan.
bool is_row_of(const Json& build, const Row& row, const std::string& version) {
  return build["version"].as_string() == version && build["os"].as_string() == row.os &&
         build["arch"].as_string() == row.arch &&
         matches_pattern(build["flavor"].as_string(), pattern_of(row.build["flavor"].as_string(), version)) &&
         matches_pattern(build["id"].as_string(), id_pattern(row, version));
}

// The components of a build, in an order that does not depend on where they were found.
std::vector<std::string> components_of(const Json& build) {
  std::vector<std::string> ids = {build["plugin"]["component"].as_string()};
  for (const Json& id : build["components"].as_array()) ids.push_back(id.as_string());
  return ids;
}

}  // namespace

std::optional<ManifestRow> OldManifest::row_of(const Plan& plan, const Row& row,
                                               const std::string& version) const {
  for (const Json& build : document_["builds"].as_array()) {
    if (!is_row_of(build, row, version) || has_id(plan.builds, build["id"])) continue;
    ManifestRow found{build, Json::object()};
    for (const std::string& id : components_of(build))
      if (const Json* const component = document_["components"].find(id);
          component != nullptr && plan.components.find(id) == nullptr)
        found.components.set(id, *component);
    return found;
  }
  return {};
}

std::vector<std::string> OldManifest::versions_of(const Plan& plan, const Track& track) const {
  std::vector<std::string> versions;
  for (const Json& build : document_["builds"].as_array()) {
    const std::string& version = build["version"].as_string();
    if (!in_range(version, track.versions)) continue;
    const bool is_of_track = std::any_of(track.rows.begin(), track.rows.end(), [&](const Row& row) {
      return is_row_of(build, row, version) && !has_id(plan.builds, build["id"]);
    });
    if (is_of_track && std::find(versions.begin(), versions.end(), version) == versions.end())
      versions.push_back(version);
  }
  std::sort(versions.begin(), versions.end(), [](const std::string& left, const std::string& right) {
    return compare_versions(left, right) < 0;
  });
  return versions;
}

ManifestRow without_components_of(const Plan& plan, const ManifestRow& row) {
  ManifestRow left{row.build, Json::object()};
  for (const auto& [id, component] : row.components.as_object())
    if (plan.components.find(id) == nullptr) left.components.set(id, component);
  return left;
}

std::string digest_of(const ManifestRow& row) {
  Json components = Json::object();
  for (const std::string& id : components_of(row.build))
    if (const Json* const component = row.components.find(id)) components.set(id, *component);
  return sha256_hex(row.build.dump() + "\n" + components.dump());
}

ManifestDraft::ManifestDraft(const Plan& plan, const OldManifest& old)
    : name_(path_text(plan.manifest)), components_(plan.components), builds_(plan.builds) {
  // Members that a plan does not have stay, in their order: the serial, a schema.
  for (const auto& [name, value] : old.document().as_object())
    if (name != "licenses" && name != "components" && name != "builds") head_.set(name, value);
  head_.set("format", 1).set("engine", plan.engine);
  if (head_.find("serial") == nullptr) head_.set("serial", 0);
  if (head_.find("critical") != nullptr || !plan.critical.as_array().empty())
    head_.set("critical", plan.critical);
  head_.set("licenses", plan.licenses);
  for (const Json& build : builds_.as_array()) ids_.insert(build["id"].as_string());
}

Result<void> ManifestDraft::add(const ManifestRow& row) {
  const std::string& id = row.build["id"].as_string();
  const auto refusal = [&](const std::string& member, const std::string& problem) {
    return fail(diagnose(Code::manifest_fails_for_users)
                    .with(Key::document, name_)
                    .with(Key::member, member)
                    .with(Key::problem, problem)
                    .with(Key::remedy,
                          "give the rows or layouts of the plan ids that differ, for example by {cuda}"));
  };
  if (ids_.contains(id)) return refusal("builds." + id, "two rows have this id");
  for (const auto& [name, component] : row.components.as_object())
    if (const Json* const known = components_.find(name); known != nullptr && *known != component)
      return refusal("components." + name, "two rows have a component of this id with other content");
  ids_.insert(id);
  for (const auto& [name, component] : row.components.as_object()) components_.set(name, component);
  builds_.push(row.build);
  return {};
}

Json ManifestDraft::document() const {
  Json document = head_;
  return document.set("components", components_).set("builds", builds_);
}

std::string ManifestDraft::text() const {
  std::string text = "{\n";
  const auto add_object = [&](std::string_view name, const Json& object) {
    text += " " + Json(name).dump() + ": {";
    const char* separator = "\n";
    for (const auto& [key, value] : object.as_object()) {
      text += separator + ("  " + Json(key).dump()) + ": " + value.dump();
      separator = ",\n";
    }
    text += object.as_object().empty() ? "}" : "\n }";
  };
  for (const auto& [name, value] : head_.as_object()) {
    if (name == "licenses")
      add_object(name, value);
    else
      text += " " + Json(name).dump() + ": " + value.dump();
    text += ",\n";
  }
  add_object("components", components_);
  text += ",\n \"builds\": [";
  const char* separator = "\n";
  for (const Json& build : builds_.as_array()) {
    text += separator + ("  " + build.dump());
    separator = ",\n";
  }
  return text + (builds_.as_array().empty() ? "]\n}\n" : "\n ]\n}\n");
}

}  // namespace enginehost::follow
