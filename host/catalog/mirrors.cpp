#include "host/catalog/repositories.hpp"

#include <algorithm>

namespace enginehost::catalog {
namespace {

bool is_mirrored(const manifest::Source& source, const settings::Mirror& mirror) {
  return source.kind == manifest::Source::Kind::url && source.location.starts_with(mirror.of);
}

std::vector<manifest::Source> mirrored(const std::vector<manifest::Source>& sources,
                                       const std::vector<settings::Mirror>& mirrors) {
  std::vector<manifest::Source> all;
  for (const manifest::Source& source : sources) {
    for (const settings::Mirror& mirror : mirrors)
      if (is_mirrored(source, mirror)) {
        all.push_back(source);
        all.back().location = mirror.use + source.location.substr(mirror.of.size());
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
                        [&](const settings::Mirror& mirror) { return is_mirrored(source, mirror); }))
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
