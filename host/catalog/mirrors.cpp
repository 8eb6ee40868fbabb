#include "host/catalog/repositories.hpp"

#include <algorithm>

#include "base/location.hpp"

namespace enginehost::catalog {
namespace {

// Returns the URL of the source on the mirror; empty if the mirror does not have it.
std::string place_on(const settings::Mirror& mirror, const manifest::Source& source) {
  if (source.kind != manifest::Source::Kind::url) return {};
  const auto rest = rest_below(source.location, mirror.of);
  return rest ? mirror.use + *rest : "";
}

std::vector<manifest::Source> mirrored(const std::vector<manifest::Source>& sources,
                                       const std::vector<settings::Mirror>& mirrors) {
  std::vector<manifest::Source> all;
  for (const manifest::Source& source : sources) {
    for (const settings::Mirror& mirror : mirrors) {
      const std::string place = place_on(mirror, source);
      if (place.empty() || place == source.location) continue;
      all.push_back(source);
      all.back().location = place;
    }
    all.push_back(source);
  }
  return all;
}

bool concerns(const manifest::Manifest& manifest, const std::vector<settings::Mirror>& mirrors) {
  for (const auto& [id, component] : manifest.components)
    for (const manifest::Artifact& artifact : component.artifacts)
      for (const manifest::Source& source : artifact.sources)
        if (std::any_of(mirrors.begin(), mirrors.end(),
                        [&](const settings::Mirror& mirror) { return !place_on(mirror, source).empty(); }))
          return true;
  return false;
}

}  // namespace

std::shared_ptr<const manifest::Manifest> with_mirrors(std::shared_ptr<const manifest::Manifest> manifest,
                                                       const std::vector<settings::Mirror>& mirrors) {
  if (!concerns(*manifest, mirrors)) return manifest;
  const auto copy = std::make_shared<manifest::Manifest>(*manifest);
  for (auto& [id, component] : copy->components)
    for (manifest::Artifact& artifact : component.artifacts)
      artifact.sources = mirrored(artifact.sources, mirrors);
  for (auto& build : copy->builds) {
    auto owned = std::make_shared<manifest::Build>(*build);
    owned->manifest = copy;
    build = std::move(owned);
  }
  return copy;
}

}  // namespace enginehost::catalog
