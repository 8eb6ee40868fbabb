// Repairs an installed build, fetching only what is damaged.
#pragma once
#include <optional>

#include "base/cancel.hpp"
#include "cache/store.hpp"
#include "host/acquire/acquire.hpp"
#include "host/manifest/catalog.hpp"

namespace enginehost::acquire {

// Returns the bytes of one file of a component, from the parts of its zip archives that hold it. The caller
// must compare digests. `scratch` is emptied. `build` gives the base of relative sources. Errors: that of the
// first source if none gives the file: as unpack_parts, EH-N10 offline; EH-N15 if there is no zip archive.
Result<std::string> file_of_component(const manifest::Build& build, const manifest::Component& component,
                                      const std::string& view_path, const std::filesystem::path& scratch,
                                      const AcquireOptions& options,
                                      const std::optional<CancelToken>& cancel = {});

// Runs cache::Store::repair under the build's lock. Fetches missing bytes from the artifacts' sources in
// turn, as parts of zip archives. Files that can only be fetched as a whole (other archives, servers without
// ranges) stay in Repaired::left. The caller then uses Store::reject_damaged and acquire(). With `build`
// nullptr only local files are used. EH-F18 if another process works on the build for too long. Blocks; any
// thread.
Result<cache::Repaired> repair(std::string_view id, const manifest::Build* build, const cache::Store& store,
                               const AcquireOptions& options, const std::optional<CancelToken>& cancel = {});

}  // namespace enginehost::acquire
