// Types for repairing a build file by file.
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cache/problem.hpp"
#include "cache/tree_list.hpp"

namespace enginehost::cache {

// Fetches files of a tree into `into`/<path> and returns their source. It may omit files. The caller hashes
// every fetched file before use.
using FetchFiles = std::function<Result<std::string>(
    const std::string& tree, const std::vector<TreeEntry>& wanted, const std::filesystem::path& into)>;

struct RepairedFile {
  Problem problem;  // before the repair
  // "the view", "the tree", "its list", "layer /…", "mode", "removed", or the source that FetchFiles
  // returned.
  std::string from;
};

struct Repaired {
  std::vector<RepairedFile> files;
  std::vector<Problem> left;           // could not be repaired
  std::vector<Diagnosis> not_fetched;  // the reasons why FetchFiles did not fetch them
};

}  // namespace enginehost::cache
