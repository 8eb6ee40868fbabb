// Checks of a cache's folders before their content is trusted and loaded.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/ownership.hpp"
#include "base/result.hpp"

namespace enginehost::cache {

// Returns the folders on the path to what is loaded; the functions below check them. A user who may write to
// one of them decides which code runs.
std::vector<std::filesystem::path> leading_folders(const std::filesystem::path& root);

// Returns who may change one of them (base/ownership.hpp).
Changers who_may_change_cache(const std::filesystem::path& root, Purpose purpose);

// Returns EH-F22 ("folder", "problem", "owner") if a read-only layer must not be loaded from, because
// somebody other than this user and root may change it. Returns nothing if it may be loaded or does not
// exist.
std::optional<Diagnosis> layer_problem(const std::filesystem::path& layer);

// Returns EH-F23 ("folder", "problem" or the errno facts) if the folder exists but cannot be read or entered,
// or is no folder (a dangling link, a file). Returns nothing if it does not exist.
std::optional<Diagnosis> folder_unreadable(const std::filesystem::path& folder);

// Returns the reason for each existing layer that is not used: EH-F22 as above, or EH-F23.
std::vector<Diagnosis> layers_passed_over(const std::vector<std::filesystem::path>& layers);

// Returns all problems of a cache's folder that an administrator should know: EH-F22 as above; EH-L27 if its
// file system is mounted noexec; EH-F16 if a newer program made it.
std::vector<Diagnosis> place_problems(const std::filesystem::path& root);

}  // namespace enginehost::cache
