// Trees that several builds share: published, checked before reuse, quarantined when damaged, listed again.
#include <algorithm>
#include <cerrno>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "cache/sharing.hpp"
#include "cache/store_inside.hpp"

namespace enginehost::cache {
namespace inside {
namespace {

int move_entries(const fs::path& from, const fs::path& to) {
  if (calls::mkdir(to.c_str(), 0755) != 0) return errno;
  std::error_code error;
  const std::vector<fs::path> entries = entries_of(from, error);
  if (error) return error.value();
  for (const fs::path& entry : entries)
    if (const int why = move_away(entry, to / entry.filename()); why != 0) return why;
  return calls::rmdir(from.c_str()) == 0 ? 0 : errno;
}

std::optional<TreeEntry> entry_of(const fs::path& file, std::string path) {
  TreeEntry entry;
  entry.path = std::move(path);
  calls::Status status{};
  if (!path_problem(entry.path).empty() || calls::lstat(file.c_str(), &status) != 0) return {};
  if (S_ISLNK(status.st_mode)) {
    std::error_code error;
    entry.kind = TreeEntry::Kind::link;
    entry.identity = generic_text(fs::read_symlink(file, error));
    entry.size = entry.identity.size();
    if (error || !link_problem(entry.path, entry.identity).empty()) return {};
    return entry;
  }
  if (!S_ISREG(status.st_mode)) return {};
  if ((status.st_mode & 0111) != 0) entry.kind = TreeEntry::Kind::executable;
  entry.size = static_cast<std::uint64_t>(status.st_size);
  auto digest = sha256_of_file(file);
  if (!digest) return {};
  entry.identity = std::move(*digest);
  return entry;
}

std::optional<TreeList> list_of_files(const fs::path& root, std::string_view tree_id) {
  const fs::path folder = root / "trees" / tree_id;
  std::error_code error;
  if (!is_sha256_hex(tree_id) || !fs::is_directory(fs::symlink_status(folder, error))) return {};
  TreeList list;
  const std::vector<fs::path> files = entries_below(folder, error);
  if (error) return {};
  for (const fs::path& file : files) {
    if (fs::is_directory(fs::symlink_status(file, error))) continue;
    auto entry = entry_of(file, generic_text(file.lexically_relative(folder)));
    if (!entry) return {};
    list.entries.push_back(std::move(*entry));
  }
  if (error || list.id() != tree_id) return {};
  return list;
}

}  // namespace

int move_away(const fs::path& from, const fs::path& to) {
  if (calls::rename(from.c_str(), to.c_str()) == 0) return 0;
  const int why = errno;
  std::error_code error;
  return why == EXDEV && fs::is_directory(fs::symlink_status(from, error)) ? move_entries(from, to) : why;
}

std::optional<TreeList> rebuild_list(const fs::path& root, std::string_view tree_id) {
  auto list = list_of_files(root, tree_id);
  if (!list) return {};
  const fs::path place = root / "lists" / tree_id;
  const auto written = clear_for_file(root, place).and_then([&] { return write_file(place, list->text()); });
  if (!written) return {};
  return list;
}

Result<FileLock> lock_tree(const fs::path& root, std::string_view tree, std::string_view program) {
  const fs::path file = lock_file(root, "tree-" + std::string(tree));
  if (locks_are_kept(root)) return FileLock::exclusive(file, program);
  auto lock = FileLock::try_exclusive(file, program);
  return lock && *lock ? std::move(**lock) : FileLock();
}

Result<void> set_aside(const fs::path& root, const fs::path& what) {
  const fs::path aside = root / "rejected" / path_of(path_text(what.filename()) + "." + random_hex(4));
  if (const int why = move_away(what, aside); why != 0 && why != ENOENT)
    return fail(disk_failure(why, what, root));
  return sync_folder(what.parent_path());
}

Result<void> clear_for_folder(const fs::path& root, const fs::path& what) {
  calls::Status status{};
  if (calls::lstat(what.c_str(), &status) != 0) return {};
  if (!S_ISDIR(status.st_mode)) return set_aside(root, what);
  // If it cannot be opened, the code below reports why.
  if ((status.st_mode & 0700) != 0700) static_cast<void>(calls::chmod(what.c_str(), 0755));
  return {};
}

Result<void> clear_for_file(const fs::path& root, const fs::path& what) {
  calls::Status status{};
  if (calls::lstat(what.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return {};
  return set_aside(root, what);
}

}  // namespace inside

namespace {

using namespace inside;

// Returns the problem of a tree; nothing if there is no tree.
std::optional<Diagnosis> damage_of(const fs::path& root, std::string_view tree) {
  const fs::path folder = root / "trees" / tree;
  calls::Status status{};
  if (calls::lstat(folder.c_str(), &status) != 0 && errno == ENOENT) return {};
  const auto list = load_list(root, tree);
  if (!list) return list.error();
  Digests digests;
  for (const TreeEntry& entry : list->entries)
    if (auto problem = problem_of(folder, entry, true, &digests)) return std::move(problem->diagnosis);
  return {};
}

// Keeps one copy of each tree for later inspection.
Result<void> put_aside(const fs::path& root, std::string_view tree) {
  const fs::path folder = root / "trees" / tree;
  const std::string start = std::string(tree) + ".";
  std::error_code error;
  for (const fs::path& old : entries_of(root / "rejected", error))
    if (path_text(old.filename()).starts_with(start)) static_cast<void>(discard(root, old));
  const fs::path aside = root / "rejected" / path_of(start + random_hex(4));
  if (const int why = move_away(folder, aside); why != 0 && why != ENOENT)
    return fail(disk_failure(why, folder, root));
  return sync_folder(root / "trees");
}

// Repairs views of other builds that have files of the tree that was here before. A view that cannot be
// repaired now is found by its build's next open, which checks its stamps.
void repair_views_of(const fs::path& root, const std::string& tree, const fs::path& scratch) {
  const bool kept = locks_are_kept(root);
  for (const Installed& build : Store::open(root).list()) {
    if (std::find(build.trees.begin(), build.trees.end(), tree) == build.trees.end()) continue;
    const auto lock = FileLock::try_exclusive(lock_file(root, Store::key_of(build.build)), {});
    if (kept && !(lock && *lock)) continue;  // by the process that is making it
    auto plan = plan_view(root, build.trees);
    if (!plan || calls::access(build.folder.c_str(), F_OK) != 0) continue;
    std::erase_if(*plan, [&](const auto& planned) { return planned.second.tree != tree; });
    static_cast<void>(repair_files(root, *plan, build.folder, scratch));
  }
}

// The name begins as that of older versions, whose sweeps keep such a file as long as its tree.
std::string of_whole(std::string_view archive_key) { return "of-whole-" + file_name_for(archive_key); }

std::optional<std::string> tree_noted_in(const Store& store, const std::string& name) {
  if (store.root().empty()) return {};
  const auto text = read_file(store.root() / "lists" / name, 4096);
  if (!text) return {};
  std::string id(trim(*text));
  if (!store.has_tree(id)) return {};
  return id;
}

}  // namespace

bool Store::has_tree(std::string_view tree_id) const {
  calls::Status status{};
  if (!is_sha256_hex(tree_id) || calls::lstat((root_ / "trees" / tree_id).c_str(), &status) != 0 ||
      !S_ISDIR(status.st_mode))
    return false;
  return calls::access((root_ / "lists" / tree_id).c_str(), R_OK) == 0 ||
         rebuild_list(root_, tree_id).has_value();
}

std::optional<std::string> Store::tree_of(std::string_view archive_key) const {
  return tree_noted_in(*this, of_whole(archive_key));
}

std::optional<std::string> Store::older_tree_of(std::string_view archive_key) const {
  return tree_noted_in(*this, "of-" + file_name_for(archive_key));
}

Result<std::optional<Diagnosis>> Store::reject_if_damaged(std::string_view tree_id) const {
  if (!is_sha256_hex(tree_id) || !damage_of(root_, tree_id)) return std::optional<Diagnosis>();
  TRY_ASSIGN(const FileLock lock, lock_tree(root_, tree_id, program_));
  // The previous lock holder may have quarantined the tree already, and the present one may be new. A damaged
  // list alone is no reason to remove an intact tree, which might not be available again.
  if (!load_list(root_, tree_id)) static_cast<void>(rebuild_list(root_, tree_id));
  std::optional<Diagnosis> damage = damage_of(root_, tree_id);
  if (damage) TRY(put_aside(root_, tree_id));
  return damage;
}

Result<std::string> Store::publish_tree(const TreeList& list, const fs::path& folder,
                                        std::string_view archive_key) const {
  const std::string text = list.text();
  const std::string id = sha256_hex(text);
  const fs::path place = root_ / "trees" / id;
  std::error_code error;
  // The list first, because a tree without one cannot be checked.
  TRY(clear_for_file(root_, root_ / "lists" / id));
  TRY(write_file(root_ / "lists" / id, text));
  if (!fs::is_directory(fs::symlink_status(place, error))) TRY(clear_for_folder(root_, place));
  TRY_ASSIGN(bool moved, rename_into_place(folder, place, root_));
  if (!moved) {
    TRY_ASSIGN(const auto damage, reject_if_damaged(id));
    if (damage) TRY(rename_into_place(folder, place, root_).map([&](bool now) { moved = now; }));
  }
  if (moved) repair_views_of(root_, id, folder.parent_path());
  if (archive_key.empty()) return id;
  const fs::path of = root_ / "lists" / of_whole(archive_key);
  TRY(clear_for_file(root_, of));
  TRY(write_file(of, id + "\n"));
  return id;
}

}  // namespace enginehost::cache
