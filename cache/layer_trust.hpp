// What a cache's folder must be for its bytes to be believed and loaded.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace enginehost::cache {

// The folders that lead to what is loaded, which all of this looks at. Who may write one of them decides what
// code runs.
std::vector<std::filesystem::path> leading_folders(const std::filesystem::path& root);

// Why what lies in a layer that others look after must not be loaded: EH-F22 ("folder", "problem", "owner")
// when the layer, or a folder of it that is searched, belongs to someone who is neither this user nor root,
// or may be written by everybody. Nothing when it may be loaded, or does not exist.
std::optional<Diagnosis> layer_problem(const std::filesystem::path& layer);

// EH-F23 ("folder", "problem" or the errno facts) when the folder is there and cannot be read or entered, or
// is none: a link that leads nowhere, a file. Nothing when it does not exist.
std::optional<Diagnosis> folder_unreadable(const std::filesystem::path& folder);

// For each of those layers that nothing is taken from, though it is there, why: EH-F22 as above, or EH-F23.
std::vector<Diagnosis> layers_passed_over(const std::vector<std::filesystem::path>& layers);

// A sentence for who is the system's administrator and about to write into another user's cache; else
// nothing.
std::optional<std::string> warning_for_administrators(const std::filesystem::path& root);

// Everything that an administrator should know of a cache's folder: EH-F22 as above, also for a folder that a
// group may write whose members are not all this user; EH-L27 when its file system is mounted noexec; EH-F16
// when a newer program made it.
std::vector<Diagnosis> place_problems(const std::filesystem::path& root);

}  // namespace enginehost::cache
