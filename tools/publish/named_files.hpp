// Whether a manifest can name every file that an archive unpacks to (acquire::named_files).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace enginehost::publish {

// Returns the first path that a tree may have and a manifest may not (with a ":", for example); empty if
// there is none. Such a tree is named by its id alone.
std::string unnameable_path(const std::vector<std::string>& paths);

// Returns whether a manifest of `document_bytes` without them has room for these files. The estimate is never
// below what Workspace::write_json() writes, except for paths with characters that JSON escapes. False also
// for a path that no manifest holds.
bool names_fit(const std::vector<std::string>& paths, std::uint64_t document_bytes);

}  // namespace enginehost::publish
