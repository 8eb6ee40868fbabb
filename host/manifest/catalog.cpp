#include "host/manifest/catalog.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/location.hpp"
#include "base/sha256.hpp"

namespace enginehost::manifest {

std::string Source::text() const {
  switch (kind) {
    case Kind::package_index:
      return "package index: " + project + ", " + file;
    case Kind::oci:
      return "registry: " + location;
    case Kind::url:
    case Kind::file:
      break;
  }
  return location;
}

std::vector<const Component*> Build::all_components() const {
  std::vector<const Component*> found;
  const std::shared_ptr<const Manifest> owner = manifest.lock();
  if (owner == nullptr) return found;
  found.reserve(components.size() + 1);
  const auto add = [&](const std::string& name) {
    if (const auto component = owner->components.find(name); component != owner->components.end())
      found.push_back(&component->second);
  };
  add(plugin_component);
  for (const std::string& name : components) add(name);
  return found;
}

std::vector<std::string> Build::stand_ins() const {
  std::vector<std::string> names;
  for (const Component* component : all_components())
    names.insert(names.end(), component->stands_in_for.begin(), component->stands_in_for.end());
  return names;
}

std::string Build::artifacts_digest() const {
  std::vector<std::string> digests;
  for (const Component* component : all_components()) {
    // The alternatives of a component give the same files, so the first one with a digest represents it.
    const auto known = std::find_if(component->artifacts.begin(), component->artifacts.end(),
                                    [](const Artifact& artifact) { return !artifact.sha256.empty(); });
    if (known == component->artifacts.end()) return {};
    digests.push_back(known->sha256);
  }
  if (digests.size() != components.size() + 1) return {};
  std::sort(digests.begin(), digests.end());
  std::string text;
  for (const std::string& one : digests) text += one + "\n";
  if (in_place) text += in_place->identity;
  return sha256_hex(text);
}

std::string Build::loading_digest() const {
  std::string text = plugin_path + "\nprobe_seconds " + std::to_string(probe_seconds) + "\n";
  const auto add = [&](std::string_view what, std::vector<std::string> lines, bool in_order) {
    if (!in_order) std::sort(lines.begin(), lines.end());
    for (const std::string& line : lines) text.append(what).append(line) += '\n';
  };
  std::vector<std::string> set, optional;
  for (const auto& [name, value] : options) set.push_back(name + "=" + value);
  for (const Component* component : all_components())
    optional.insert(optional.end(), component->optional.begin(), component->optional.end());
  add("search ", search, true);
  add("lazy ", lazy, false);
  add("option ", std::move(set), false);
  add("optional ", std::move(optional), false);
  return sha256_hex(text);
}

std::vector<std::string> Catalog::engines() const {
  std::vector<std::string> names(unread_engines.begin(), unread_engines.end());
  for (const auto& build : builds) names.push_back(build->engine);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

void merge(Catalog& catalog, std::shared_ptr<const Manifest> manifest) {
  std::unordered_map<std::string_view, const Build*> known;
  known.reserve(catalog.builds.size());
  for (const auto& build : catalog.builds)
    if (build->engine == manifest->engine) known.emplace(build->id, build.get());
  for (const auto& build : manifest->builds) {
    if (const auto earlier = known.find(build->id); earlier != known.end()) {
      const auto owner = earlier->second->manifest.lock();
      catalog.shadowed.push_back(
          {build->id, manifest->repository, owner != nullptr ? owner->repository : ""});
    } else {
      // Shares ownership of the manifest, so that the components stay available while the build is kept.
      catalog.builds.emplace_back(manifest, build.get());
    }
  }
  catalog.warnings.insert(catalog.warnings.end(), manifest->warnings.begin(), manifest->warnings.end());
  catalog.manifests.push_back(std::move(manifest));
}

namespace {

bool is_among(const std::vector<std::string>& texts, const std::string& text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

// Whether a block of a repository outside of the request concerns an installed build. If its origin is
// unknown (an older EngineHost installed it), every block counts.
bool concerns(const Blocked& block, const InstalledAs& record) {
  if (record.origin.empty() && record.signers.empty()) return true;
  return identity_of_location(record.origin) == identity_of_location(block.by) ||
         std::any_of(record.signers.begin(), record.signers.end(),
                     [&](const std::string& key) { return is_among(block.keys, key); });
}

// Whether who blocks may speak for the build's engine.
bool may_block(const Blocked& block, const Build& build) {
  return block.engines.empty() || is_among(block.engines, build.engine);
}

// Other users share the manifest's builds, so a copy is changed. It keeps the manifest alive like the
// pointers of merge().
std::shared_ptr<Build> copy_of(const Build& build) {
  struct Copy {
    std::shared_ptr<const Manifest> owner;
    Build build;
  };
  auto copy = std::make_shared<Copy>(Copy{build.manifest.lock(), build});
  return {copy, &copy->build};
}

}  // namespace

std::shared_ptr<const Build> called(std::shared_ptr<const Build> build, std::string name) {
  if (name == build->id) return build;
  const auto copy = copy_of(*build);
  copy->published_id = std::exchange(copy->id, std::move(name));
  return copy;
}

void mark(Catalog& catalog, const std::function<InstalledAs(const std::string& build)>& installed) {
  if (catalog.blocked.empty() && catalog.expired.empty()) return;
  std::unordered_multimap<std::string_view, const Blocked*> blocked;
  for (const Blocked& one : catalog.blocked) blocked.emplace(one.sha256, &one);
  for (std::shared_ptr<const Build>& build : catalog.builds) {
    const std::shared_ptr<const Manifest> owner = build->manifest.lock();
    InstalledAs record;
    if (!blocked.empty()) record = installed(build->id);
    std::vector<std::string> digests = record.digests;
    digests.push_back(build->digest);
    for (const Component* component : build->all_components())
      for (const Artifact& artifact : component->artifacts)
        digests.insert(digests.end(), {artifact.sha256, artifact.tree});
    const Blocked* hit = nullptr;
    for (const std::string& digest : digests)
      for (auto [at, end] = blocked.equal_range(digest); at != end && hit == nullptr; ++at)
        if (may_block(*at->second, *build) &&
            (at->second->everywhere || (!record.digests.empty() && concerns(*at->second, record))))
          hit = at->second;
    const auto date = owner ? catalog.expired.find(owner->repository) : catalog.expired.end();
    if (hit == nullptr && date == catalog.expired.end()) continue;
    const auto marked = copy_of(*build);
    if (hit != nullptr) marked->blocked = hit->reason + " (said by " + hit->by + ")";
    if (date != catalog.expired.end()) marked->expired = date->second;
    build = marked;
  }
}

}  // namespace enginehost::manifest
