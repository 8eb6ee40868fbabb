// What mending a build file by file needs and did.
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cache/problem.hpp"
#include "cache/tree_list.hpp"

namespace enginehost::cache {

// Brings files of a tree from wherever they are to be had, to `into`/<path>, and tells from where. It may
// leave files out; whatever it brings is hashed before it is used.
using FetchFiles = std::function<Result<std::string>(
    const std::string& tree, const std::vector<TreeEntry>& wanted, const std::filesystem::path& into)>;

struct RepairedFile {
  Problem problem;  // what was wrong
  std::string
      from;  // "the view", "the tree", "its list", "layer /…", "mode", "removed", or what FetchFiles told
};

struct Repaired {
  std::vector<RepairedFile> files;
  std::vector<Problem> left;           // could not be repaired
  std::vector<Diagnosis> not_fetched;  // why FetchFiles did not bring them
};

}  // namespace enginehost::cache
