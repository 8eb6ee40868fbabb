#include "cache/store_parts.hpp"

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "cache/store_paths.hpp"

namespace enginehost::cache::inside {
namespace {

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
  auto it = fs::recursive_directory_iterator(folder, error);
  for (; !error && it != fs::end(it); it.increment(error)) {
    if (fs::is_directory(it->symlink_status(error))) continue;
    auto entry = entry_of(it->path(), generic_text(it->path().lexically_relative(folder)));
    if (!entry) return {};
    list.entries.push_back(std::move(*entry));
  }
  if (error || list.id() != tree_id) return {};
  return list;
}

}  // namespace

std::optional<TreeList> rebuild_list(const fs::path& root, std::string_view tree_id) {
  auto list = list_of_files(root, tree_id);
  if (!list) return {};
  const fs::path place = root / "lists" / tree_id;
  const auto written = clear_for_file(root, place).and_then([&] { return write_file(place, list->text()); });
  if (!written) return {};
  return list;
}

}  // namespace enginehost::cache::inside
