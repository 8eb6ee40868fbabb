// Parts of the store that only its own files use.
#pragma once
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cache/lock.hpp"
#include "cache/store_paths.hpp"
#include "cache/tree_list.hpp"

namespace enginehost::cache::inside {

// Files in the place of a layer's own folders, or of its note. Internal to the store.

// Returns EH-F23 ("folder", "in_the_way", "problem") if something else is in the place of a folder: a file, a
// pipe, a link to no folder. Returns nothing for a folder, a link to a folder (which may be on another disk),
// or a missing one.
std::optional<Diagnosis> unexpected_entry(const std::filesystem::path& place);

// Returns the same ("… not a file") for the layer's note of orphaned trees (orphaned_trees.hpp): a folder, a
// pipe, a link to one of them or a dangling link.
std::optional<Diagnosis> unexpected_note(const std::filesystem::path& note);

// Renames it beside its place, for good, because it belongs to a person; no collection touches it. Returns
// the new path, or nothing if the place was in order by then.
Result<std::optional<std::filesystem::path>> move_unexpected_entry_aside(const std::filesystem::path& root,
                                                                         const std::filesystem::path& place);

// Trees that lost their records. Internal to the store. Without the folder of records, nothing says which
// build a tree belongs to; the tree may still be needed. Before the folder is created again, the names of its
// trees go into the layer's file `unrecorded`. A tree named there is kept until its build is installed again,
// or Store::collect is asked to remove it.

// Notes the trees before the folder of records is created. Does nothing if that folder exists.
Result<void> note_orphaned_trees(const std::filesystem::path& root);

// Returns the noted trees that still exist; all trees if the folder of records is missing. Fails if the note
// or the folder of trees cannot be read.
Result<std::set<std::string>> orphaned_trees_in(const std::filesystem::path& root);

// Removes trees from the note because a record names them again; they are removed with that record later. If
// the note cannot be written, they stay noted.
void recorded_again(const std::filesystem::path& root, const std::vector<std::string>& trees);

// Reduces the note to these trees.
Result<void> keep_orphaned_trees(const std::filesystem::path& root, const std::set<std::string>& trees);

// Making and repairing views. Internal to the store.

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

// Moving folders of the store. Internal to the store.

// Renames like rename() and returns 0 or an errno. It also works where the file system moves files but not
// their folder: overlayfs answers EXDEV for a folder of the container's image. The folder is then created
// again and its entries are moved one by one. If the process dies meanwhile, each place has a part, and the
// old folder counts as damaged, as before.
int move_away(const std::filesystem::path& from, const std::filesystem::path& to);

// Changes to published trees. Internal to the store.

// Takes the lock for quarantining or repairing a tree, so that no process moves away a tree that another has
// just repaired. No other lock is waited for meanwhile. Holds nothing where locks do not work. Errors: EH-F18
// as FileLock.
Result<FileLock> lock_tree(const std::filesystem::path& root, std::string_view tree,
                           std::string_view program);

// Moves something of another kind from the place of a file or folder of the store to rejected/, unchanged. It
// stays there for a week. A link is moved, not followed.
Result<void> set_aside(const std::filesystem::path& root, const std::filesystem::path& what);
// Prepares the place of a folder: quarantines anything else, and restores the permissions of a closed folder.
Result<void> clear_for_folder(const std::filesystem::path& root, const std::filesystem::path& what);
// Prepares the place of a file that is renamed there: only a folder would be in its way.
Result<void> clear_for_file(const std::filesystem::path& root, const std::filesystem::path& what);

// Reconstruction of a tree's list from the tree. Internal to the store.

// Returns the list of the files in the tree if its digest is the tree's name: every file, kind and link is
// then as published. Hashes all files, and replaces a damaged or missing list. Returns nothing if something
// differs, if the file system keeps no modes, or if the list cannot be written.
std::optional<TreeList> rebuild_list(const std::filesystem::path& root, std::string_view tree_id);

}  // namespace enginehost::cache::inside
