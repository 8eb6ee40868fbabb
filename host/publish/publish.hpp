// engine-manifest publish: the folder that a web server serves.
#pragma once
#include <optional>

#include "host/publish/workspace.hpp"

namespace enginehost::publish {

struct Published {
  std::int64_t serial = 0;
  std::int64_t root_version = 0;  // 0: unsigned
  std::size_t files = 0;          // that were not there before, or not so
  bool changed = false;           // false: it was published already
  std::optional<Diagnosis>
      root_date;  // root_date(): for how long the root holds still, where that is not long
};

// Replaces `out` as a whole: a copy beside it gets everything that was there (old manifests stay, for those
// who hold an older index) and what is new, and takes its place in one rename. A reader sees the old or the
// new repository. Nothing is published that lint calls an error (EH-M16), that users would not believe
// (EH-M08 and on, with a "remedy" for the keeper), or whose index or root is older than what is there
// (EH-M11); a root that is there is not taken away (EH-M17). What was damaged there is repaired. EH-M17 for
// the folder, which is none, or has the workspace in it; EH-F.. for the disk. Any number of processes: they
// take turns by the lock file .NAME.lock beside `out` (EH-F18 when one holds it too long). One that is killed
// leaves the old or the new repository; the next run clears what lies beside it.
Result<Published> publish(const Workspace& workspace, const std::filesystem::path& out, std::int64_t now);

}  // namespace enginehost::publish
