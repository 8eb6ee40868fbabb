// The chunk list of an artifact, if the manifest names one.
#pragma once
#include <optional>

#include "host/acquire/component.hpp"
#include "host/transfer/chunk_list.hpp"

namespace enginehost::acquire {

// Fetches the list and checks it against the manifest's digest and size. Returns nothing if the manifest
// names none, or if the list cannot be fetched or is wrong; a warning says why, and the file is checked by
// its own digest only. Fails only if canceled.
Result<std::optional<transfer::ChunkList>> chunk_list_for(const manifest::Artifact& artifact,
                                                          ComponentWork& work);

}  // namespace enginehost::acquire
