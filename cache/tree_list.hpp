// The list of a component's files, which defines a tree independently of any file system.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace enginehost::cache {

struct TreeEntry {
  enum class Kind : char { file = 'F', executable = 'X', link = 'L' };
  Kind kind = Kind::file;
  std::uint64_t size = 0;
  std::string path;      // relative, '/' between parts, no "." or ".."
  std::string identity;  // sha256 of the content; for a link, its target
  bool operator==(const TreeEntry&) const = default;
};

// The canonical text has one line per entry, `F|X|L <size> <sha256|target> <path>\n`, sorted bytewise. The
// tree id is the sha256 of that text. The list does not come from a folder, so a file system without modes or
// links does not change the id.
struct TreeList {
  std::vector<TreeEntry> entries;

  std::string text() const;
  std::string id() const;
  std::uint64_t size() const;  // bytes of all files
  const TreeEntry* find(std::string_view path) const;
};

// Reads a canonical text. Errors: EH-F08 with "file" = name and "problem" for any other text: unsorted,
// unknown kind, an absolute path or one that leaves the tree, a path listed twice.
Result<TreeList> read_tree_list(std::string_view text, std::string_view name);

// Returns an empty text if the path may be an entry, else its problem: "absolute", "climbs out", "empty
// part", "control character", "backslash", "too long", "too deep".
std::string_view path_problem(std::string_view path);

// Returns an empty text if a link at `path` may point to `target`, else the problem: "absolute", "points out
// of the folder", …
std::string_view link_problem(std::string_view path, std::string_view target);

// Returns a build's digest: sha256 over its sorted tree ids, one per line.
std::string digest_of_trees(std::vector<std::string> tree_ids);

}  // namespace enginehost::cache
