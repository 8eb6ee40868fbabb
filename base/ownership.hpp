// The users who can change a file or a folder. Everything that is believed, run or emptied is checked here
// first.
//
// The rule: a path is safe if it belongs to this user or to root (on Windows: an administrator), and not
// everybody may write it. A user who can write a folder decides which files are in it.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "base/result.hpp"

namespace enginehost {

// Returns EH-F22 ("folder", "problem", "owner") if the file or folder belongs to a user other than this one
// and the administrator, or is writable by everybody. Returns nothing if it is missing. Follows links.
std::optional<Diagnosis> ownership_problem(const std::filesystem::path& path);

// The same for a file that is run: the file and its folder.
std::optional<Diagnosis> ownership_problem_of_program(const std::filesystem::path& file);

// Returns EH-F22 if a group with other members than this user may write into the folder. Nothing on Windows,
// where groups are part of the access lists that ownership_problem checks.
std::optional<Diagnosis> group_problem(const std::filesystem::path& folder);

// Makes root's process the owner of the folder (or of the nearest folder above it that exists), for the rest
// of its life. Inside another user's folder that user decides where every name leads: with root's rights, a
// removal could be led into a private folder, and the user could not change what root created. Returns the
// user's number if the process changed. Nothing happens in root's own folders, for other users, and on
// Windows. Error: EH-F22 if the system refuses.
Result<std::optional<std::string>> become_owner_of(const std::filesystem::path& folder);

// The reason why this user cannot change `file` in the user's own cache: the file, or the nearest folder
// above it, belongs to another user, as after a command with sudo. `within`: the folder of this user that the
// cache or the file lies in. Empty for root, outside this user's folders, and on Windows.
struct Foreign {
  std::filesystem::path path;
  std::string owner;
  std::filesystem::path within;
};
std::optional<Foreign> made_by_another(const std::filesystem::path& root, const std::filesystem::path& file);

}  // namespace enginehost
