// An installed build made whole again, bringing no more than what is damaged.
#pragma once
#include <optional>

#include "base/cancel.hpp"
#include "cache/store.hpp"
#include "host/acquire/acquire.hpp"
#include "host/manifest/catalog.hpp"

namespace enginehost::acquire {

// The bytes of one file of a component, by the parts of its zip archives that hold it. Nothing here is
// believed: compare digests. `scratch` is emptied. `build` says where relative sources start. The first
// source's failure when none gives it: as unpack_parts, EH-N10 offline; EH-N15 when there is no zip archive.
Result<std::string> file_of_component(const manifest::Build& build, const manifest::Component& component,
                                      const std::string& view_path, const std::filesystem::path& scratch,
                                      const AcquireOptions& options,
                                      const std::optional<CancelToken>& cancel = {});

// cache::Store::repair under the build's lock; what is not at hand is asked of the artifacts' sources in
// turn, as parts of zip archives. What comes only as a whole (other archives, servers without ranges) stays
// in Mended::left: then Store::reject_damaged and acquire() bring the component again. `build` may be
// nullptr: only what is at hand serves. EH-F18 when someone else works on the build for too long. Blocks; any
// thread.
Result<cache::Repaired> repair(std::string_view id, const manifest::Build* build, const cache::Store& store,
                               const AcquireOptions& options, const std::optional<CancelToken>& cancel = {});

}  // namespace enginehost::acquire
