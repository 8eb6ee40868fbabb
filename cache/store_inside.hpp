// Parts of the store that only its own files use.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file_calls.hpp"
#include "base/paths.hpp"
#include "cache/store.hpp"

namespace enginehost::cache::inside {

namespace fs = std::filesystem;

constexpr int layer_format = 1;

// The store's folders at the top of a layer.
constexpr const char* top_folders[] = {"trees", "lists", "views",   "refs",     "leases",
                                       "locks", "stage", "partial", "rejected", "pins"};

// Returns whether anything has that name; a dangling link counts as nothing. Errors: EH-F23 with "file" if
// the system cannot say so (EIO, EACCES), because the file may exist.
Result<bool> is_there(const fs::path& file);

// Fails with EH-F16 ("format") if a newer program made this cache, which must not be written then.
Result<void> check_format(const fs::path& root);

// Returns a file name for any text: harmless characters stay, others become %XX, a long text becomes a
// digest.
std::string file_name_for(std::string_view text);

// Builds the whole path in one path object, because every open needs these.
inline fs::path below(const fs::path& root, std::string_view folder, std::string_view name,
                      std::string_view ending) {
  return path_of(text_below(root, {folder, name}).append(ending));
}
inline fs::path ref_file(const fs::path& root, std::string_view build) {
  return below(root, "refs", file_name_for(build), ".ref");
}
inline fs::path view_folder(const fs::path& root, std::string_view digest) {
  return below(root, "views", digest, "");
}
inline fs::path lock_file(const fs::path& root, std::string_view key) {
  return below(root, "locks", file_name_for(key), ".lk");
}
inline fs::path lease_file(const fs::path& root, std::string_view digest) {
  return below(root, "leases", digest, ".lk");
}
inline fs::path pin_file(const fs::path& root, std::string_view build) {
  return below(root, "pins", file_name_for(build), ".pin");
}
// Held shared by every process that makes something, exclusively by a sweep.
inline fs::path publishing_lock(const fs::path& root) { return root / "locks" / ".publishing.lk"; }

// The note of trees that lost their records: see note_orphaned_trees().
inline fs::path orphaned_trees_file(const fs::path& root) { return root / "unrecorded"; }

// Exists while a sweep is left to a process that is making something: see Store::sweep_if_wanted.
inline fs::path sweep_wanted(const fs::path& root) { return root / "locks" / ".sweep-wanted"; }

// Returns the list of a tree in this layer, checked against its id. Errors: EH-F01, EH-F08.
Result<TreeList> load_list(const fs::path& root, std::string_view tree_id);

// The files of all trees by path. Errors: EH-F20 if two trees hold different content under one path.
struct ViewEntry {
  TreeEntry entry;
  std::string tree;
};
using ViewPlan = std::map<std::string, ViewEntry>;
Result<ViewPlan> plan_view(const fs::path& root, const std::vector<std::string>& tree_ids);

// Returns true for a folder, named pipe, socket or device under refs/. It is never read, and removing it
// loses nothing.
bool is_no_record(const fs::path& file);

// Returns the name of a build's record in its layer.
inline const std::string& record_name(const Installed& installed) {
  return installed.record.empty() ? installed.build : installed.record;
}

// Returns the record of a build in one layer; nothing if it is not installed there. ENGINE+ID also names the
// record ID of that engine, which is called so where a layer before it has that id of another engine.
Result<std::optional<Installed>> read_ref(const fs::path& root, std::string_view build, bool read_only);

// Returns the loadable files whose stamps differ from the record; an open would hash these.
std::set<std::string> files_with_other_stamps(const fs::path& view, const Installed& installed);

// Returns whether all stamps match. Creates no path objects, because it runs at every open.
bool are_as_stamped(const Installed& installed);

// Places one entry of a tree under a new name, as a hard link where the file system allows it.
Result<void> place(const TreeEntry& entry, const fs::path& from, const fs::path& to, const fs::path& root);
Result<void> copy_file(const fs::path& from, const fs::path& to, const fs::path& root);

// Moves a file or folder out of its place, then removes it. Returns the freed bytes: those of files without
// another name.
Result<std::uint64_t> discard(const fs::path& root, const fs::path& what);

// Returns write_failure() with two more facts: "foreign" and "foreign_owner" if a file of another user is in
// the way, and "crossed" if folders of the cache are on several file systems.
Diagnosis disk_failure(int error_number, const fs::path& file, const fs::path& root);

// Comparison of one file of a tree or view with its entry.

// Digests of files that were already read, so that a file with two names is read once.
using Digests = std::map<std::pair<std::uint64_t, std::uint64_t>, std::string>;

// Returns the problem of one file or link under `folder`; nothing if it is as listed. Modes are not compared,
// because a copied cache may have others.
std::optional<Problem> problem_of(const fs::path& folder, const TreeEntry& entry, bool deep,
                                  Digests* known = nullptr);

// Returns the problem of a mode that lets others write the file, hides it from its readers or keeps a program
// from running. Nothing if the file system has no modes.
std::optional<Problem> mode_problem_of(const fs::path& folder, const TreeEntry& entry);
calls::Mode mode_of(const TreeEntry& entry);

// Returns all files and links below a tree's or view's folder that are not known by their path in it, as far
// as they can be read; and the problem of one of them.
std::vector<fs::path> unlisted_files(const fs::path& folder,
                                     const std::function<bool(const std::string& path)>& is_known);
Problem unlisted_file(const fs::path& folder, const fs::path& file);

// Files in the place of a layer's own folders, or of its note.

// Returns EH-F23 ("folder", "in_the_way", "problem") if something else is in the place of a folder: a file, a
// pipe, a link to no folder. Returns nothing for a folder, a link to a folder (which may be on another disk),
// or a missing one.
std::optional<Diagnosis> unexpected_entry(const fs::path& place);

// Returns the same ("… not a file") for the layer's note of orphaned trees : a folder, a
// pipe, a link to one of them or a dangling link.
std::optional<Diagnosis> unexpected_note(const fs::path& note);

// Renames it beside its place, for good, because it belongs to a person; no collection touches it. Returns
// the new path, or nothing if the place was in order by then.
Result<std::optional<fs::path>> move_unexpected_entry_aside(const fs::path& root, const fs::path& place);

// Trees that lost their records. Without the folder of records, nothing says which
// build a tree belongs to; the tree may still be needed. Before the folder is created again, the names of its
// trees go into the layer's file `unrecorded`. A tree named there is kept until its build is installed again,
// or Store::collect is asked to remove it.

// Notes the trees before the folder of records is created. Does nothing if that folder exists.
Result<void> note_orphaned_trees(const fs::path& root);

// Returns the noted trees that still exist; all trees if the folder of records is missing. Fails if the note
// or the folder of trees cannot be read.
Result<std::set<std::string>> orphaned_trees_in(const fs::path& root);

// Removes trees from the note because a record names them again; they are removed with that record later. If
// the note cannot be written, they stay noted.
void recorded_again(const fs::path& root, const std::vector<std::string>& trees);

// Reduces the note to these trees.
Result<void> keep_orphaned_trees(const fs::path& root, const std::set<std::string>& trees);

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

// Renames like rename() and returns 0 or an errno. It also works where the file system moves files but not
// their folder: overlayfs answers EXDEV for a folder of the container's image. The folder is then created
// again and its entries are moved one by one. If the process dies meanwhile, each place has a part, and the
// old folder counts as damaged, as before.
int move_away(const fs::path& from, const fs::path& to);

// Takes the lock for quarantining or repairing a tree, so that no process moves away a tree that another has
// just repaired. No other lock is waited for meanwhile. Holds nothing where locks do not work. Errors: EH-F18
// as FileLock.
Result<FileLock> lock_tree(const fs::path& root, std::string_view tree, std::string_view program);

// Moves something of another kind from the place of a file or folder of the store to rejected/, unchanged. It
// stays there for a week. A link is moved, not followed.
Result<void> set_aside(const fs::path& root, const fs::path& what);
// Prepares the place of a folder: quarantines anything else, and restores the permissions of a closed folder.
Result<void> clear_for_folder(const fs::path& root, const fs::path& what);
// Prepares the place of a file that is renamed there: only a folder would be in its way.
Result<void> clear_for_file(const fs::path& root, const fs::path& what);

// Returns the list of the files in the tree if its digest is the tree's name: every file, kind and link is
// then as published. Hashes all files, and replaces a damaged or missing list. Returns nothing if something
// differs, if the file system keeps no modes, or if the list cannot be written.
std::optional<TreeList> rebuild_list(const fs::path& root, std::string_view tree_id);

// Removal of builds and unreferenced files.

// Returns the time for computing ages: now, or the newest time in the layer if the clock is more than a year
// ahead of it (a clock that lost its battery, for example).
std::int64_t believable_time(const fs::path& root);

// A build whose record was removed, and the locks that keep others from it until its files are removed.
struct Released {
  std::string digest;
  FileLock key, unused;
};
// Removes the record. Errors: EH-F18 if the build is in use or being made, EH-F01 if it is not installed.
Result<Released> release(const fs::path& root, std::string_view build, std::string_view program);

// Returns everything that a record of this layer refers to. Fails if a record, or their folder, cannot be
// read, because the set would be incomplete.
Result<std::set<std::string>> referred(const fs::path& root);

struct Swept {
  std::uint64_t bytes = 0;
  std::vector<Diagnosis> stayed;  // the reason for each thing that could not be removed
};
// Removes unreferenced files; one that cannot be removed does not stop the rest. The caller holds the
// publishing lock exclusively. The view `freed` is known not to be leased.
Swept sweep_layer(const fs::path& root, std::string_view freed);
// Takes the publishing lock and does the same. Returns nothing if another process is making something; that
// process sweeps later.
Result<std::optional<Swept>> sweep_alone(const fs::path& root, std::string_view freed,
                                         std::string_view program);

// Removes a quarantined tree, or a download that no process is known to work on. `name`: "rejected/…",
// "partial/…". Returns true if it is gone, or would be with `only_look`.
Result<bool> drop_unneeded(const fs::path& root, const std::string& name, bool only_look);

}  // namespace enginehost::cache::inside
