// Installs one component: tries its artifacts and their sources in turn, until one gives the right bytes and
// they are unpacked to a tree.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "host/acquire/acquire.hpp"
#include "host/transfer/chunk_list.hpp"
#include "host/transfer/transfer.hpp"

namespace enginehost::acquire {

// The state that the components of one acquisition share.
struct ComponentWork {
  const manifest::Build& build;
  const cache::Store& store;
  const AcquireOptions& options;
  const transfer::ProgressCallback& progress;
  const std::optional<CancelToken>& cancel;
  Acquired& acquired;
  std::optional<std::uint64_t> total;  // bytes of all downloads, if known
  std::uint64_t before = 0;            // bytes of the finished components
  std::uint64_t arrived = 0;           // bytes of all components that are here and stay
  cache::Stage* stage = nullptr;       // of the build; processes that wait for it see its progress
};

// Returns the first artifact that has a digest and a source, or nullptr.
const manifest::Artifact* first_usable(const manifest::Component& component);

// Returns the tree id. Errors as acquire().
Result<std::string> acquire_component(const manifest::Component& component, ComponentWork& work);

cache::WaitOptions waiting(const ComponentWork& work);

// Where the bytes and the chunk list of an artifact come from.

// Returns where a source has the artifact: asks package indexes and registries, and resolves files of the
// repository. `transfer`: the options for asking. Errors: those of outside_of_repository(), locate_package()
// and oci::locate().
Result<transfer::Place> locate(const manifest::Source& source, const manifest::Artifact& artifact,
                               const manifest::Build& build, const transfer::TransferOptions& transfer,
                               const std::optional<CancelToken>& cancel);

// Returns the sources with each registry source preceded by its copies in the mirrors that the options name.
// A mirror that is down, lacks the artifact or sends wrong bytes counts as a failed source.
std::vector<manifest::Source> with_registry_mirrors(const std::vector<manifest::Source>& sources,
                                                    const transfer::TransferOptions& options);

// Fetches the chunk list of an artifact and checks it against the manifest's digest and size. Returns nothing
// if the manifest names none, or if the list cannot be fetched or is wrong; a warning says why, and the file
// is checked by its own digest only. Fails only if canceled.
Result<std::optional<transfer::ChunkList>> chunk_list_for(const manifest::Artifact& artifact,
                                                          ComponentWork& work);

}  // namespace enginehost::acquire
