// Entries of a layer that the store did not make, and trees that lost their records.
#include "cache/store_inside.hpp"

#include <cerrno>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "cache/lock.hpp"

namespace enginehost::cache::inside {

namespace {

Diagnosis in_the_way(const fs::path& place, std::string problem) {
  return std::move(diagnose(Code::cache_unusable)
                       .with(Key::folder, path_text(place))
                       .with(Key::in_the_way, path_text(place))
                       .with(Key::problem, std::move(problem)));
}

std::string link_text(const fs::path& place) {
  std::error_code error;
  return "a link to " + path_text(fs::read_symlink(place, error));
}

}  // namespace

std::optional<Diagnosis> unexpected_entry(const fs::path& place) {
  calls::Status here{}, meant{};
  if (calls::lstat(place.c_str(), &here) != 0 || S_ISDIR(here.st_mode)) return {};
  std::string problem;
  if (S_ISLNK(here.st_mode)) {
    // Something inaccessible may be a folder.
    if (calls::stat(place.c_str(), &meant) != 0) {
      if (errno != ENOENT && errno != ELOOP && errno != ENOTDIR) return {};
      problem = "which is not there";
    } else if (S_ISDIR(meant.st_mode)) {
      return {};
    } else {
      problem = "which is no folder";
    }
    problem = link_text(place) + ", " + problem;
  } else {
    problem =
        S_ISREG(here.st_mode) ? "a file, not a folder" : "a named pipe, a socket or a device, not a folder";
  }
  return in_the_way(place, std::move(problem));
}

std::optional<Diagnosis> unexpected_note(const fs::path& note) {
  calls::Status here{}, meant{};
  if (calls::lstat(note.c_str(), &here) != 0 || S_ISREG(here.st_mode)) return {};
  if (S_ISDIR(here.st_mode)) return in_the_way(note, "a folder, not a file");
  if (!S_ISLNK(here.st_mode)) return in_the_way(note, "a named pipe, a socket or a device, not a file");
  // A dangling link counts as no note.
  const bool odd = calls::stat(note.c_str(), &meant) == 0 ? !S_ISREG(meant.st_mode) : errno == ELOOP;
  return odd ? std::optional(in_the_way(note, link_text(note) + ", which is no file")) : std::nullopt;
}

Result<std::optional<fs::path>> move_unexpected_entry_aside(const fs::path& root, const fs::path& place) {
  // One process at a time, so that a second one does not move away the folder that the first has created. The
  // lock file is beside the folder of locks, which may itself be the unexpected entry.
  // Everybody who may enter the cache may hold the lock; the work under it takes milliseconds.
  WaitOptions wait;
  wait.at_most = std::chrono::seconds(5);
  auto lock = FileLock::exclusive(root / ".places.lk", "places", wait);
  if (!(place == orphaned_trees_file(root) ? unexpected_note(place) : unexpected_entry(place)))
    return std::optional<fs::path>();
  if (!lock) return fail(std::move(lock).error());
  fs::path aside = place;
  aside += ".aside-" + random_hex(4);
  if (calls::rename(place.c_str(), aside.c_str()) != 0) return fail(disk_failure(errno, place, root));
  TRY(sync_folder(root));
  return std::optional<fs::path>(std::move(aside));
}

namespace {

// Something inaccessible may be a folder.
bool is_folder(const fs::path& path) {
  calls::Status status{};
  if (calls::lstat(path.c_str(), &status) != 0) return errno != ENOENT && errno != ENOTDIR;
  return S_ISDIR(status.st_mode);
}

// Returns true if nothing is there, or no folder. An inaccessible place does not count as lost.
bool is_lost(const fs::path& place) {
  calls::Status status{};
  if (calls::lstat(place.c_str(), &status) != 0) return errno == ENOENT || errno == ENOTDIR;
  return unexpected_entry(place).has_value();
}

}  // namespace

Result<void> note_orphaned_trees(const fs::path& root) {
  if (!is_lost(root / "refs")) return {};
  TRY_ASSIGN(const std::set<std::string> trees, orphaned_trees_in(root));
  // The process that created the folder of records meanwhile has noted the trees, and may have recorded
  // others.
  if (trees.empty() || !is_lost(root / "refs")) return {};
  return keep_orphaned_trees(root, trees);
}

Result<std::set<std::string>> orphaned_trees_in(const fs::path& root) {
  std::set<std::string> trees;
  std::error_code error;
  if (is_lost(root / "refs"))
    for (const fs::path& entry : entries_of(root / "trees", error))
      if (const std::string name = path_text(entry.filename()); is_sha256_hex(name) && is_folder(entry))
        trees.insert(name);
  // Unreadable trees still exist. The error itself shows a missing folder, because it may have been created
  // since.
  if (error && error != std::errc::no_such_file_or_directory && !is_lost(root / "trees"))
    return fail(
        diagnose_errno(Code::cache_unusable, error.value()).with(Key::folder, path_text(root / "trees")));
  const auto text = read_file(orphaned_trees_file(root));
  if (!text) {
    // A cache that is no folder is reported by the functions that write to it.
    const std::string_view number = text.error().value(Key::errno_);
    if (number == "ENOENT" || number == "ENOTDIR") return trees;
    return fail(text.error());
  }
  for (const std::string& line : split(*text, '\n'))
    if (is_sha256_hex(line) && is_folder(root / "trees" / path_of(line))) trees.insert(line);
  return trees;
}

void recorded_again(const fs::path& root, const std::vector<std::string>& trees) {
  auto noted = orphaned_trees_in(root);
  if (!noted || noted->empty()) return;
  std::size_t gone = 0;
  for (const std::string& tree : trees) gone += noted->erase(tree);
  if (gone > 0) static_cast<void>(keep_orphaned_trees(root, *noted));
}

Result<void> keep_orphaned_trees(const fs::path& root, const std::set<std::string>& trees) {
  if (trees.empty()) {
    if (calls::unlink(orphaned_trees_file(root).c_str()) == 0 || errno == ENOENT) return {};
    return fail(disk_failure(errno, orphaned_trees_file(root), root));
  }
  std::string text;
  for (const std::string& tree : trees) text += tree + "\n";
  return write_file(orphaned_trees_file(root), text);
}

}  // namespace enginehost::cache::inside
