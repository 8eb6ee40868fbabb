// Looks that tell what is not there from what cannot be looked at: who took one for the other would publish
// an index of nothing, or one without its signatures.
#pragma once
#include <filesystem>
#include <vector>

#include "base/result.hpp"

namespace enginehost::publish {

// EH-M17 ("folder" is `path`) when it cannot be told, such as for want of a right or on a failing disk. Any
// thread.
Result<bool> is_there(const std::filesystem::path& path);

// Of what a link leads to; not_found as well for a link that leads nowhere. EH-M17 as above. Any thread.
Result<std::filesystem::file_type> type_of(const std::filesystem::path& path);

// What lies in the folder, sorted; nothing where there is no such folder. EH-M17 as above: never a part of
// it. Any thread.
Result<std::vector<std::filesystem::path>> children_of(const std::filesystem::path& folder);

// What lies below the folder at any depth and is no folder, relative to it: files, links wherever they lead,
// and what is neither; nothing where there is no such folder. EH-M17 as above. Any thread.
Result<std::vector<std::filesystem::path>> entries_below(const std::filesystem::path& folder);

}  // namespace enginehost::publish
