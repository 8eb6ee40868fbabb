// Trees that lost their records. Internal to the store. Without the folder of records, nothing says which
// build a tree belongs to; the tree may still be needed. Before the folder is created again, the names of its
// trees go into the layer's file `unrecorded`. A tree named there is kept until its build is installed again,
// or Store::collect is asked to remove it.
#pragma once
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace enginehost::cache::inside {

// Notes the trees before the folder of records is created. Does nothing if that folder exists.
Result<void> note_orphaned_trees(const std::filesystem::path& root);

// Returns the noted trees that still exist; all trees if the folder of records is missing. Fails if the note
// or the folder of trees cannot be read.
Result<std::set<std::string>> orphaned_trees_in(const std::filesystem::path& root);

// Removes trees from the note because a record names them again; they are removed with that record later. If
// the note cannot be written, they stay noted.
void recorded_again(const std::filesystem::path& root, const std::vector<std::string>& trees);

// Reduces the note to these trees.
Result<void> keep_orphaned_trees(const std::filesystem::path& root, const std::set<std::string>& trees);

}  // namespace enginehost::cache::inside
