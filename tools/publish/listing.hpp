// Directory queries that distinguish a missing entry from one that cannot be examined. Confusing the two
// would publish an empty index, or one without its signatures.
#pragma once
#include <filesystem>
#include <vector>

#include "base/result.hpp"

namespace enginehost::publish {

// Error: EH-M17 ("folder" is `path`) when the answer is unknown, for example because of missing permissions
// or a failing disk. Any thread.
Result<bool> is_there(const std::filesystem::path& path);

// Returns the type of a link's target; not_found also for a dangling link. EH-M17 as above. Any thread.
Result<std::filesystem::file_type> type_of(const std::filesystem::path& path);

// Returns the folder's entries, sorted; empty when there is no such folder. EH-M17 as above, never a partial
// list. Any thread.
Result<std::vector<std::filesystem::path>> children_of(const std::filesystem::path& folder);

// Returns all entries below the folder, at any depth, that are no folders, relative to it: files, links
// whatever their target, and special files. Empty when there is no such folder. EH-M17 as above. Any thread.
Result<std::vector<std::filesystem::path>> entries_below(const std::filesystem::path& folder);

}  // namespace enginehost::publish
