// Where things lie in a layer; for the store's own files only.
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

// The store's own folders at the top of a layer.
constexpr const char* top_folders[] = {"trees", "lists", "views",   "refs",     "leases",
                                       "locks", "stage", "partial", "rejected", "pins"};

// Whether anything has that name; a link to nothing counts as nothing. Only the system's word that there is
// none means no: of what cannot be looked at now (EIO, EACCES) nothing is known, EH-F23 with "file".
Result<bool> is_there(const fs::path& file);

// EH-F16 ("format") when a newer program made this cache: it may be read, never written.
Result<void> check_format(const fs::path& root);

// A file name for any text: harmless characters stay, others become %XX, long ones a digest.
std::string file_name_for(std::string_view text);

// One path object is made of the whole: these are asked for at every open.
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
// Held shared by everyone who makes something, exclusively by who sweeps.
inline fs::path publishing_lock(const fs::path& root) { return root / "locks" / ".publishing.lk"; }

// Of trees that lost their records: see unrecorded.hpp.
inline fs::path orphaned_trees_file(const fs::path& root) { return root / "unrecorded"; }

// There while something was left to whoever is just making something: see Store::sweep_if_wanted.
inline fs::path sweep_wanted(const fs::path& root) { return root / "locks" / ".sweep-wanted"; }

// The list of a tree in this layer, checked against its id. EH-F01, EH-F08.
Result<TreeList> load_list(const fs::path& root, std::string_view tree_id);

// What all trees together put under each path. EH-F20 when two of them hold different things there.
struct ViewEntry {
  TreeEntry entry;
  std::string tree;
};
using ViewPlan = std::map<std::string, ViewEntry>;
Result<ViewPlan> plan_view(const fs::path& root, const std::vector<std::string>& tree_ids);

// A folder, a named pipe, a socket or a device under refs/: nothing is read of it, and nothing is lost with
// it.
bool is_no_record(const fs::path& file);

// The record of a build in one layer; nothing when it is not installed there.
Result<std::optional<Installed>> read_ref(const fs::path& root, std::string_view build, bool read_only);

// The loadable files that are not as the record has stamped them: what an open would hash.
std::set<std::string> files_with_other_stamps(const fs::path& view, const Installed& installed);

// Whether none is: without a path object or a look at anything else, since this runs at every open.
bool are_as_stamped(const Installed& installed);

// One entry of a tree under a new name: a second name of the same file where the file system allows it.
Result<void> place(const TreeEntry& entry, const fs::path& from, const fs::path& to, const fs::path& root);
Result<void> copy_file(const fs::path& from, const fs::path& to, const fs::path& root);

// Moves a file or folder out of sight, then removes it; returns the bytes that held the last name of their
// file.
Result<std::uint64_t> discard(const fs::path& root, const fs::path& what);

// As write_failure(), with what else is to be told of a cache: "foreign" and "foreign_owner" where something
// that another user made is in the way, "crossed" where folders of it lie on several file systems.
Diagnosis disk_failure(int error_number, const fs::path& file, const fs::path& root);

}  // namespace enginehost::cache::inside
