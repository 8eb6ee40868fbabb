// Sources in OCI registries: the request for an artifact, and the order of mirrors.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "host/acquire/acquire.hpp"
#include "host/oci/pull.hpp"

namespace enginehost::acquire {

oci::Wanted wanted_of(const manifest::Artifact& artifact, const manifest::Build& build,
                      const AcquireOptions& options);

// Returns the sources with each registry source preceded by its copies in the mirrors that the options name.
// A mirror that is down, lacks the artifact or sends wrong bytes counts as a failed source.
std::vector<manifest::Source> with_registry_mirrors(const std::vector<manifest::Source>& sources,
                                                    const transfer::TransferOptions& options);

// Returns the artifact's length from the first mirror or registry that reports it. Returns nothing if none
// does, or offline.
std::optional<std::uint64_t> size_in_registry(const manifest::Source& source,
                                              const manifest::Artifact& artifact,
                                              const manifest::Build& build, const AcquireOptions& options,
                                              const std::optional<CancelToken>& cancel);

}  // namespace enginehost::acquire
