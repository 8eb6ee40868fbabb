// Paths within a layer. Internal to the store.
#pragma once
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/paths.hpp"
#include "cache/file_check.hpp"
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

// The note of trees that lost their records: see orphaned_trees.hpp.
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

// Returns the record of a build in one layer; nothing if it is not installed there.
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

}  // namespace enginehost::cache::inside
