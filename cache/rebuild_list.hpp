// A tree's list made again out of the tree; for the store's own files only.
#pragma once
#include <filesystem>
#include <optional>
#include <string_view>

#include "cache/tree_list.hpp"

namespace enginehost::cache::inside {

// The list of the files that lie in the tree, when its digest is the tree's name: then every file, kind and
// link is what was published. Hashes them all, and writes the list where one that is damaged or missing
// belongs. Nothing when something differs, where the file system keeps no modes, or it cannot be written.
std::optional<TreeList> rebuild_list(const std::filesystem::path& root, std::string_view tree_id);

}  // namespace enginehost::cache::inside
