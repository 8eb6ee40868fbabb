#include "cache/store_parts.hpp"

#include <cerrno>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "cache/store_paths.hpp"

namespace enginehost::cache::inside {
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
    for (auto it = fs::directory_iterator(root / "trees", error); !error && it != fs::end(it);
         it.increment(error))
      if (const std::string name = path_text(it->path().filename());
          is_sha256_hex(name) && is_folder(it->path()))
        trees.insert(name);
  // Unreadable trees still exist. The error itself shows a missing folder, because it may have been created
  // since.
  if (error && error != std::errc::no_such_file_or_directory && !is_lost(root / "trees"))
    return fail(diagnose_errno("EH-F23", error.value()).with("folder", path_text(root / "trees")));
  const auto text = read_file(orphaned_trees_file(root));
  if (!text) {
    // A cache that is no folder is reported by the functions that write to it.
    const std::string_view number = text.error().value("errno");
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
