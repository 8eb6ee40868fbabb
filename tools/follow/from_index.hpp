// Rows that a user's machine derives for itself, from a plan that came with EngineHost, into a repository of
// its own.
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
#include "tools/follow/derive.hpp"

namespace enginehost::follow {

// Name of that repository, which people see as the origin of its builds.
inline constexpr const char* derived_here = "derived here from the package index; unverified";

struct FromIndexRequest {
  std::string version, os, arch;
  std::filesystem::path plan;  // of the engine: <prefix>/share/enginehost/plans/ENGINE.json
  std::filesystem::path
      own;  // the repository with the compiled plugins: <prefix>/share/enginehost/repository
  std::filesystem::path folder;  // of the derived repository, in the state folder; made where it is missing
  std::function<bool(const Row&)> wanted = {};  // of the rows of that system; not set: all
  std::int64_t now = 0;                         // seconds since 1970
};

struct FromIndex {
  std::vector<std::string> builds;  // ids, in the plan's order; at least one
  std::vector<Diagnosis> left_out;  // EH-M19 of the other rows
  std::vector<Fact> facts;
  std::uint64_t fetched = 0;
};

// Derives the rows of that version for that system and adds them to the repository in `folder`, beside those
// that were derived before. Each has priority -1000, so that no build that somebody verified is passed
// over. Errors: EH-M18 of the plan; EH-M19 if no row of the plan serves the version or the system, or none
// could be derived: the first one's, also of a row whose plugin ("component") was not compiled here. Those of
// derive_row() for the network and the disk. Any number of processes: one writes at a time (EH-F18).
Result<FromIndex> derive_from_index(const FromIndexRequest& request, Index& index,
                                    const transfer::TransferOptions& options,
                                    const transfer::ProgressCallback& progress = {},
                                    const std::optional<CancelToken>& cancel = {});

}  // namespace enginehost::follow
