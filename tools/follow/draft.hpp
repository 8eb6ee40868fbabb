// The manifest that a run makes: the plan's own entries, then the rows of its releases.
#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "tools/follow/plan.hpp"

namespace enginehost::follow {

// A build of a manifest with the components that only rows name.
struct ManifestRow {
  Json build, components = Json::object();
};

// Returns the pattern of the row's build id for a release: "toy-1.0-cu*". Any thread.
std::string id_pattern(const Row& row, const std::string& version);

// The manifest that a run found. Any thread.
class OldManifest {
 public:
  explicit OldManifest(Json document) : document_(std::move(document)) {}
  const Json& document() const { return document_; }
  // Returns the row of a release, by the id of the plan's row; nothing if it has none. Every variable but
  // {version} may have any value.
  std::optional<ManifestRow> row_of(const Plan& plan, const Row& row, const std::string& version) const;
  // Returns the versions of which it has rows of the track, the oldest first.
  std::vector<std::string> versions_of(const Plan& plan, const Track& track) const;

 private:
  Json document_;
};

// Returns the row without the components that the plan has by hand, as OldManifest::row_of() gives it.
ManifestRow without_components_of(const Plan& plan, const ManifestRow& row);

// Returns a digest of the row's content.
std::string digest_of(const ManifestRow& row);

// One thread.
class ManifestDraft {
 public:
  ManifestDraft(const Plan& plan, const OldManifest& old);
  // Error: EH-M16 ("document", "member", "problem") if another row has the same id, or another component of
  // one of the ids.
  Result<void> add(const ManifestRow& row);
  // Returns the document, and its text with one component and one build a line.
  Json document() const;
  std::string text() const;
  bool has_build(const std::string& id) const { return ids_.contains(id); }

 private:
  std::string name_;
  Json head_ = Json::object();  // the members before the components
  Json components_, builds_;
  std::set<std::string> ids_;
};

}  // namespace enginehost::follow
