// Sources that are registries: what is asked of them for an artifact, and who is asked first.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "host/acquire/acquire.hpp"
#include "host/oci/pull.hpp"

namespace enginehost::acquire {

oci::Wanted wanted_of(const manifest::Artifact& artifact, const manifest::Build& build,
                      const AcquireOptions& options);

// The sources with each one in a registry preceded by itself in the mirrors that the options name for it: a
// mirror that is down, lacks the artifact or sends wrong bytes is a source that failed, like any other.
std::vector<manifest::Source> with_registry_mirrors(const std::vector<manifest::Source>& sources,
                                                    const transfer::TransferOptions& options);

// The artifact's length as the first mirror or registry that answers tells it; nothing when none does, or
// offline.
std::optional<std::uint64_t> size_in_registry(const manifest::Source& source,
                                              const manifest::Artifact& artifact,
                                              const manifest::Build& build, const AcquireOptions& options,
                                              const std::optional<CancelToken>& cancel);

}  // namespace enginehost::acquire
