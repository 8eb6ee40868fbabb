// Which releases of a track a manifest has.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "tools/follow/plan.hpp"
#include "tools/follow/vetted_index.hpp"

namespace enginehost::follow {

struct ChosenReleases {
  std::vector<std::string> versions;    // the oldest first
  std::vector<SkippedRelease> skipped;  // in the track's range and newer than the oldest chosen one
  std::vector<std::string> missing;     // of the track's `keep`
};

// Returns the version of CUDA's toolkit that the row's wheel of that release needs; "" if none.
using ToolkitOf = std::function<Result<std::string>(const Row& row, const std::string& version)>;

// Errors: those of Index::releases() and of `toolkit_of`.
Result<ChosenReleases> choose_releases(const Track& track, VettedIndex& index, const ToolkitOf& toolkit_of);

}  // namespace enginehost::follow
