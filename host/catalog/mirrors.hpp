// Configured mirrors as additional sources of a manifest.
#pragma once
#include <memory>
#include <vector>

#include "host/manifest/catalog.hpp"
#include "host/settings/settings.hpp"

namespace enginehost::catalog {

// Returns the manifest with mirror sources: before each source whose URL begins with a mirror's `of`, the
// same file below its `use`. The original stays as the next source. Returns the same manifest if no mirror
// applies. Digests stay the manifest's, so that a mirror need not be trusted.
std::shared_ptr<const manifest::Manifest> with_mirrors(std::shared_ptr<const manifest::Manifest> manifest,
                                                       const std::vector<settings::Mirror>& mirrors);

}  // namespace enginehost::catalog
