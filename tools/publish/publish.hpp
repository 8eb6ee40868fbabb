// engine-manifest publish: writes the folder that a web server serves.
#pragma once
#include <optional>

#include "tools/publish/workspace.hpp"

namespace enginehost::publish {

struct Published {
  std::int64_t serial = 0;
  std::int64_t root_version = 0;       // 0: unsigned
  std::size_t files = 0;               // new or changed files
  bool changed = false;                // false: it was already published
  std::optional<Diagnosis> root_date;  // root_date(): how long the root is still valid, when that is not long
};

// Replaces `out` as a whole. A copy beside it receives everything that was there (old manifests stay, for
// clients with an older index) and everything new, and takes its place in one rename. Readers see either the
// old or the new repository. Damaged files there are repaired. Errors: EH-M16: lint reports an error. EH-M08
// and following, with a "remedy" for the keeper: users would not trust it. EH-M11: its index or root is older
// than the published one. EH-M17: it would remove a published root; or the folder is no folder or contains
// the workspace. EH-F..: the disk. Any number of processes: the lock file .NAME.lock beside `out` admits one
// at a time (EH-F18 when it is held too long). A killed process leaves the old or the new repository; the
// next run removes its leftovers.
Result<Published> publish(const Workspace& workspace, const std::filesystem::path& out, std::int64_t now);

}  // namespace enginehost::publish
