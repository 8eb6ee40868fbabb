// The list of an artifact's pieces, when the manifest names one.
#pragma once
#include <optional>

#include "host/acquire/component.hpp"
#include "host/transfer/chunk_list.hpp"

namespace enginehost::acquire {

// Fetches the list and holds it against the manifest's digest and size. Nothing when the manifest names none,
// or when it cannot be had or is wrong: the file's own digest then judges it alone, and a warning tells why.
// Only cancelling is an error.
Result<std::optional<transfer::ChunkList>> chunk_list_for(const manifest::Artifact& artifact,
                                                          ComponentWork& work);

}  // namespace enginehost::acquire
