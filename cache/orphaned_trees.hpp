// Trees that lost their records; for the store's own files only. When the folder of records is gone, nothing
// says whose the trees are: they are no waste for that. Their names go into the file `unrecorded` of the
// layer before the folder is made again, and a tree that is named there is kept until its build is installed
// again or it is asked for by Store::collect.
#pragma once
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace enginehost::cache::inside {

// Before the folder of records is made: notes the trees, if there are any. Does nothing where that folder is.
Result<void> note_orphaned_trees(const std::filesystem::path& root);

// Those noted and still there, and where the folder of records is not, all. Fails when the note or
// the folder of trees cannot be read.
Result<std::set<std::string>> orphaned_trees_in(const std::filesystem::path& root);

// A record names these again: they are noted no more, and go with it one day. What cannot be written stays
// noted.
void recorded_again(const std::filesystem::path& root, const std::vector<std::string>& trees);

// Leaves only these in the note.
Result<void> keep_orphaned_trees(const std::filesystem::path& root, const std::set<std::string>& trees);

}  // namespace enginehost::cache::inside
