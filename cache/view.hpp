// Making and healing views; for the store's own files only.
#pragma once
#include <filesystem>

#include "cache/store_paths.hpp"

namespace enginehost::cache::inside {

// Moves a finished folder to its place, and makes sure that what this program finds under the name is on the
// disk before anything refers to it. False when something stands there already.
Result<bool> rename_into_place(const fs::path& from, const fs::path& to, const fs::path& root);

// A folder with everything that is planned, in the files of the trees.
Result<void> build_view(const fs::path& root, const ViewPlan& plan, const fs::path& folder);

// Replaces one by one what differs; a process that has an old file mapped keeps it. What is one file with its
// tree's counts as right: the caller has looked at the trees.
Result<void> repair_files(const fs::path& root, const ViewPlan& plan, const fs::path& view,
                          const fs::path& scratch);
// The same, and takes away what is not planned. `plan` must be the whole view's.
Result<void> repair_view(const fs::path& root, const ViewPlan& plan, const fs::path& view,
                         const fs::path& scratch);

}  // namespace enginehost::cache::inside
