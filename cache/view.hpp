// Making and repairing views. Internal to the store.
#pragma once
#include <filesystem>

#include "cache/store_paths.hpp"

namespace enginehost::cache::inside {

// Moves a finished folder to its place, and makes what is there durable before anything refers to it. Returns
// false if the place is already taken.
Result<bool> rename_into_place(const fs::path& from, const fs::path& to, const fs::path& root);

// Creates a folder with all planned entries, from the files of the trees.
Result<void> build_view(const fs::path& root, const ViewPlan& plan, const fs::path& folder);

// Replaces differing files one by one; a process that has an old file mapped keeps it. A file that is the
// tree's own file (same inode) counts as correct, because the caller has checked the trees.
Result<void> repair_files(const fs::path& root, const ViewPlan& plan, const fs::path& view,
                          const fs::path& scratch);
// The same, and removes unplanned entries. `plan` must cover the whole view.
Result<void> repair_view(const fs::path& root, const ViewPlan& plan, const fs::path& view,
                         const fs::path& scratch);

}  // namespace enginehost::cache::inside
