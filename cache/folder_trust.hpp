// Who may write into a folder, as the system says.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "base/result.hpp"

namespace enginehost::cache::inside {

// EH-F22 when the folder belongs to someone who is neither this user nor the system's administrator, or
// everybody may write into it; nothing also when it is not there.
std::optional<Diagnosis> folder_problem(const std::filesystem::path& folder);

// The user that the folder belongs to, when this process is the administrator's and the folder is not: what
// it makes there its owner cannot change.
std::optional<std::string> owner_shut_out(const std::filesystem::path& folder);

// What keeps this user from changing `file` in a cache of his own: the file itself or the nearest thing above
// it that belongs to another user (root worked here, say). Nothing for root, in a cache of somebody else, and
// on Windows.
struct Foreign {
  std::filesystem::path path;
  std::string owner;
};
std::optional<Foreign> made_by_another(const std::filesystem::path& root, const std::filesystem::path& file);

// EH-F22 when a group may write into it that is not this user alone. Windows' groups are in its access lists,
// and folder_problem has looked at those.
std::optional<Diagnosis> group_problem(const std::filesystem::path& folder);

}  // namespace enginehost::cache::inside
