// Reconstruction of a tree's list from the tree. Internal to the store.
#pragma once
#include <filesystem>
#include <optional>
#include <string_view>

#include "cache/tree_list.hpp"

namespace enginehost::cache::inside {

// Returns the list of the files in the tree if its digest is the tree's name: every file, kind and link is
// then as published. Hashes all files, and replaces a damaged or missing list. Returns nothing if something
// differs, if the file system keeps no modes, or if the list cannot be written.
std::optional<TreeList> rebuild_list(const std::filesystem::path& root, std::string_view tree_id);

}  // namespace enginehost::cache::inside
