// Changes to published trees. Internal to the store.
#pragma once
#include <filesystem>
#include <string_view>

#include "cache/lock.hpp"

namespace enginehost::cache::inside {

// Takes the lock for quarantining or repairing a tree, so that no process moves away a tree that another has
// just repaired. No other lock is waited for meanwhile. Holds nothing where locks do not work. Errors: EH-F18
// as FileLock.
Result<FileLock> lock_tree(const std::filesystem::path& root, std::string_view tree,
                           std::string_view program);

// Moves something of another kind from the place of a file or folder of the store to rejected/, unchanged. It
// stays there for a week. A link is moved, not followed.
Result<void> set_aside(const std::filesystem::path& root, const std::filesystem::path& what);
// Prepares the place of a folder: quarantines anything else, and restores the permissions of a closed folder.
Result<void> clear_for_folder(const std::filesystem::path& root, const std::filesystem::path& what);
// Prepares the place of a file that is renamed there: only a folder would be in its way.
Result<void> clear_for_file(const std::filesystem::path& root, const std::filesystem::path& what);

}  // namespace enginehost::cache::inside
