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

// EH-F22 when a group may write into it that is not this user alone. Windows' groups are in its access lists,
// and folder_problem has looked at those.
std::optional<Diagnosis> group_problem(const std::filesystem::path& folder);

}  // namespace enginehost::cache::inside
