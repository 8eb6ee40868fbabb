// Comparison of one file of a tree or view with its entry. Internal to the store.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/file_calls.hpp"
#include "cache/problem.hpp"
#include "cache/tree_list.hpp"

namespace enginehost::cache::inside {

// Digests of files that were already read, so that a file with two names is read once.
using Digests = std::map<std::pair<std::uint64_t, std::uint64_t>, std::string>;

// Returns the problem of one file or link under `folder`; nothing if it is as listed. Modes are not compared,
// because a copied cache may have others.
std::optional<Problem> problem_of(const std::filesystem::path& folder, const TreeEntry& entry, bool deep,
                                  Digests* known = nullptr);

// Returns the problem of a mode that lets others write the file, hides it from its readers or keeps a program
// from running. Nothing if the file system has no modes.
std::optional<Problem> mode_problem_of(const std::filesystem::path& folder, const TreeEntry& entry);
calls::Mode mode_of(const TreeEntry& entry);

}  // namespace enginehost::cache::inside
