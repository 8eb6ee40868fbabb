// The list of a component's files: what a tree is, independent of any file system.
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
  std::string identity;  // sha256 of the content; of a link: its target
  bool operator==(const TreeEntry&) const = default;
};

// The canonical text is one line an entry, `F|X|L <size> <sha256|target> <path>\n`, sorted by its bytes; the
// tree id is the sha256 of that text. It is a list and not a walk of a folder, so a file system that cannot
// hold a mode or a link does not change the id.
struct TreeList {
  std::vector<TreeEntry> entries;

  std::string text() const;
  std::string id() const;
  std::uint64_t size() const;  // bytes of all files
  const TreeEntry* find(std::string_view path) const;
};

// Reads a canonical text. EH-F08 with "file" = name and "problem" when it is not one: unsorted, unknown kind,
// a path that is absolute or climbs out, a path listed twice.
Result<TreeList> read_tree_list(std::string_view text, std::string_view name);

// Empty when a path may be an entry; else what is wrong with it: "absolute", "climbs out", "empty part",
// "control character", "backslash", "too long", "too deep".
std::string_view path_problem(std::string_view path);

// Empty when a link at `path` may point to `target`; else what is wrong: "absolute", "points out of the
// folder", …
std::string_view link_problem(std::string_view path, std::string_view target);

// A build's digest: sha256 over its sorted tree ids, one a line.
std::string digest_of_trees(std::vector<std::string> tree_ids);

}  // namespace enginehost::cache
