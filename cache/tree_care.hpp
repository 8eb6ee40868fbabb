// Whoever changes a tree that lies in its place; for the store's own files only.
#pragma once
#include <filesystem>
#include <string_view>

#include "cache/lock.hpp"

namespace enginehost::cache::inside {

// Held while a tree is put aside or repaired, so that nobody moves away what someone else has just made
// right. No other lock is waited for meanwhile. Holds nothing where locks are not kept. EH-F18 as FileLock.
Result<FileLock> lock_tree(const std::filesystem::path& root, std::string_view tree,
                           std::string_view program);

// What lies in the place of a file or folder of the store and is of another kind goes to rejected/ as it is:
// who put it there finds it for a week. A link is moved, not followed.
Result<void> set_aside(const std::filesystem::path& root, const std::filesystem::path& what);
// Makes place for a folder: what is none is quarantined, and one that its owner closed is opened again.
Result<void> clear_for_folder(const std::filesystem::path& root, const std::filesystem::path& what);
// And for a file that is renamed there: only a folder is in its way.
Result<void> clear_for_file(const std::filesystem::path& root, const std::filesystem::path& what);

}  // namespace enginehost::cache::inside
