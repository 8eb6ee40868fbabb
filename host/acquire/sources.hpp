// Where the bytes and the chunk list of an artifact come from.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "host/acquire/acquire.hpp"
#include "host/acquire/component.hpp"
#include "host/oci/pull.hpp"
#include "host/transfer/chunk_list.hpp"

namespace enginehost::acquire {

// Sources in OCI registries: the request for an artifact, and the order of mirrors.

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

// The chunk list of an artifact, if the manifest names one.

// Fetches the list and checks it against the manifest's digest and size. Returns nothing if the manifest
// names none, or if the list cannot be fetched or is wrong; a warning says why, and the file is checked by
// its own digest only. Fails only if canceled.
Result<std::optional<transfer::ChunkList>> chunk_list_for(const manifest::Artifact& artifact,
                                                          ComponentWork& work);

}  // namespace enginehost::acquire
