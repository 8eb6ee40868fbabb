// Sources of a manifest looked for at the configured mirrors first.
#pragma once
#include <memory>
#include <vector>

#include "host/manifest/catalog.hpp"
#include "host/settings/settings.hpp"

namespace enginehost::open {

// The manifest with, before each source whose URL begins with a mirror's `of`, the same file below its `use`;
// the original stays as the next source. The manifest itself where no mirror has anything to say. Digests are
// the manifest's, so that a mirror need not be trusted.
std::shared_ptr<const manifest::Manifest> with_mirrors(std::shared_ptr<const manifest::Manifest> manifest,
                                                       const std::vector<settings::Mirror>& mirrors);

}  // namespace enginehost::open
