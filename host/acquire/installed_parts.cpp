#include "host/acquire/installed_parts.hpp"

#include <algorithm>

#include "base/location.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"

namespace enginehost::acquire {
namespace {

// The tree that this version knows to be the artifact's; empty: none.
std::string known_tree(const manifest::Artifact& artifact, const cache::Store& store) {
  return artifact.tree.empty() ? store.tree_of(archive_key(artifact)).value_or("") : artifact.tree;
}

// Whether the manifest is the one in the record, or comes from where that one came from. A manifest that was
// read from a record has no repository.
bool is_from_the_same(const cache::Installed& installed, const manifest::Build& build) {
  const auto owner = build.manifest.lock();
  if (!owner || owner->repository.empty()) return true;
  const std::string repository = without_passwords(owner->repository);
  if (identity_of_location(installed.origin) == identity_of_location(repository)) return true;
  return std::ranges::any_of(installed.signers, [&](const std::string& key) {
    return std::ranges::find(owner->signed_by, key) != owner->signed_by.end();
  });
}

// Whether a record speaks for the parts of which the manifest names no files. Files that were only compared
// with the names in another repository's manifest are not proven to be the archive's.
bool speaks_for(const cache::Installed& installed, const manifest::Build& build) {
  if (installed.engine != build.engine) return false;
  if (!build.digest.empty() && installed.digest != build.digest) return false;
  return installed.files_by != "manifest" || is_from_the_same(installed, build);
}

// An older version noted a tree also for archives of which it hashed nothing.
std::optional<std::string> tree_of_own_record(const manifest::Artifact& artifact,
                                              const manifest::Build& build, const cache::Store& store) {
  const auto tree = store.older_tree_of(archive_key(artifact));
  if (!tree) return {};
  const auto record = cache::Store::open(store.root()).record_of(build.id);
  if (!record || !*record || !speaks_for(**record, build)) return {};
  return std::ranges::find((*record)->trees, *tree) != (*record)->trees.end() ? tree : std::nullopt;
}

// Whether the installed files are those that the manifest names, by the digest of a build or by the trees of
// its components. The digests of the archives prove nothing about files that came from somewhere else (a
// bundle).
enum class Named { yes, no, other };
Named named_by(const manifest::Build& build, const cache::Installed& installed, const cache::Store& store) {
  if (!build.digest.empty()) return build.digest == installed.digest ? Named::yes : Named::other;
  const std::vector<const manifest::Component*> components = build.all_components();
  bool all = components.size() == installed.trees.size();
  for (std::size_t i = 0; i < components.size() && i < installed.trees.size(); ++i) {
    std::vector<std::string> trees;
    for (const manifest::Artifact& artifact : components[i]->artifacts)
      trees.push_back(known_tree(artifact, store));
    if (std::ranges::find(trees, installed.trees[i]) != trees.end()) continue;
    all = false;
    if (!trees.empty() && std::ranges::find(trees, "") == trees.end()) return Named::other;
  }
  return all ? Named::yes : Named::no;
}

}  // namespace

std::string archive_key(const manifest::Artifact& artifact) {
  std::string text = artifact.sha256 + '\n' + artifact.archive + '\n' + artifact.path + '\n' +
                     std::to_string(artifact.strip) + '\n' + join(artifact.select, "\n");
  return sha256_hex(text);
}

std::optional<std::string> installed_tree(const manifest::Artifact& artifact, const manifest::Build& build,
                                          const cache::Store& store) {
  const std::string known = known_tree(artifact, store);
  if (!known.empty()) return store.has_tree(known) ? std::optional(known) : std::nullopt;
  return tree_of_own_record(artifact, build, store);
}

std::optional<std::string> installed_tree(const manifest::Component& component, const manifest::Build& build,
                                          const cache::Store& store) {
  for (const manifest::Artifact& artifact : component.artifacts)
    if (auto tree = installed_tree(artifact, build, store)) return tree;
  return {};
}

std::string proof_of_files(const manifest::Build& build, const std::vector<std::string>& trees,
                           const cache::Store& store) {
  const std::vector<const manifest::Component*> components = build.all_components();
  for (std::size_t i = 0; i < components.size() && i < trees.size(); ++i)
    if (std::ranges::none_of(components[i]->artifacts, [&](const manifest::Artifact& artifact) {
          return store.tree_of(archive_key(artifact)) == trees[i] ||
                 tree_of_own_record(artifact, build, store) == trees[i];
        }))
      return "manifest";
  return "archive";
}

// A repackaged build has other archives but the same files, for example a registry's copy of a build in a
// layer.
bool is_current(const cache::Installed& installed, const manifest::Build& build, const cache::Store& store) {
  if (installed.engine != build.engine) return false;
  switch (named_by(build, installed, store)) {
    case Named::other:
      return false;
    case Named::yes:
      return true;
    case Named::no:
      break;
  }
  const std::string wanted = build.artifacts_digest();
  if (!wanted.empty() && installed.artifacts_digest != wanted) return false;
  return speaks_for(installed, build);
}

}  // namespace enginehost::acquire
