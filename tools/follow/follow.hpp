// A run over a plan: the manifest gets the rows of the releases that the package index has now.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "base/result.hpp"
#include "host/transfer/options.hpp"
#include "host/transfer/progress.hpp"
#include "tools/follow/report.hpp"

namespace enginehost::follow {

struct FollowRequest {
  std::filesystem::path plan;
  bool check = false;              // writes nothing and reads no wheel
  std::vector<std::string> only;   // versions; rows of other releases stay as they are. Empty: all
  std::string prove_in;            // a repository with the rows, for prove(); empty: nothing is opened
  std::filesystem::path programs;  // the folder of engine-info
  transfer::TransferOptions options;
  std::int64_t now = 0;
  transfer::ProgressCallback progress = {};
  std::function<void(const std::string&)> step = {};  // called with each row before it is derived
  std::optional<CancelToken> cancel = {};
};

// Runs one at a time for a plan; others wait. The manifest is written last and whole, so that a run that is
// interrupted changes nothing but the memory, from which the next one goes on.
//
// A release that cannot be used is in the report with the reason, and its rows stay as they were. Errors end
// the run, and the manifest stays as it was: those of read_plan(); EH-M01 and EH-M02 for a manifest that
// cannot be read or would be refused; EH-M17 for the memory; those of locks and of the disk; EH-P10.
Result<Report> follow(const FollowRequest& request);

}  // namespace enginehost::follow
