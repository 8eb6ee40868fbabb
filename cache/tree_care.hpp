// Whoever changes a tree that lies in its place; for the store's own files only.
#pragma once
#include <filesystem>
#include <string_view>

#include "cache/lock.hpp"

namespace enginehost::cache::inside {

// Held while a tree is put aside or mended, so that nobody moves away what someone else has just made right.
// No other lock is waited for meanwhile. Holds nothing where locks are not kept. EH-F18 as FileLock.
Result<FileLock> lock_tree(const std::filesystem::path& root, std::string_view tree,
                           std::string_view program);

}  // namespace enginehost::cache::inside
