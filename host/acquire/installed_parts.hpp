// Which installed files are those of a build: by what its manifest names, or by an archive that was hashed
// whole.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cache/store.hpp"
#include "host/manifest/catalog.hpp"

namespace enginehost::acquire {

// Returns the key of everything that the unpacked tree of an archive depends on.
std::string archive_key(const manifest::Artifact& artifact);

// Returns the artifact's tree if it is installed: the one that the manifest names. If it names none, the one
// of the archive with the manifest's digest, once this cache hashed the whole of it. Bytes that another
// manifest describes as parts of that archive never count. `build`: see cache::Store::older_tree_of.
std::optional<std::string> installed_tree(const manifest::Artifact& artifact, const manifest::Build& build,
                                          const cache::Store& store);
// The same of a component's artifacts.
std::optional<std::string> installed_tree(const manifest::Component& component, const manifest::Build& build,
                                          const cache::Store& store);

// Returns the proof of these trees of the build for its record, as cache::Installed::files_by.
std::string proof_of_files(const manifest::Build& build, const std::vector<std::string>& trees,
                           const cache::Store& store);

// Returns false if the installed files are not those that the manifest means: the same id may later mean
// other bytes.
bool is_current(const cache::Installed& installed, const manifest::Build& build, const cache::Store& store);

}  // namespace enginehost::acquire
