// One file of a tree or view against its entry; for the store's own files only.
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

// Digests of files that were read already: a file that has two names is read once.
using Digests = std::map<std::pair<std::uint64_t, std::uint64_t>, std::string>;

// What is wrong with one file or link under `folder`; nothing when it is as listed. Its mode does not count:
// a copied cache may have others.
std::optional<Problem> problem_of(const std::filesystem::path& folder, const TreeEntry& entry, bool deep,
                                  Digests* known = nullptr);

// A mode that lets someone write the file, hides it from its readers or keeps a program from running, where
// the file system has modes.
std::optional<Problem> mode_problem_of(const std::filesystem::path& folder, const TreeEntry& entry);
calls::Mode mode_of(const TreeEntry& entry);

}  // namespace enginehost::cache::inside
