// Rows that a user's machine derives for itself, from a plan that came with EngineHost, into a repository of
// its own.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "host/transfer/options.hpp"
#include "host/transfer/progress.hpp"
#include "tools/follow/derive.hpp"
#include "tools/follow/memory.hpp"
#include "tools/follow/vetted_index.hpp"

namespace enginehost::follow {

struct FromIndexRequest {
  std::string os, arch;
  std::filesystem::path plan;    // of the engine: <prefix>/share/enginehost/plans/ENGINE.json
  std::filesystem::path own;     // the repository with the compiled plugins
  std::filesystem::path folder;  // of the derived repository, in the state folder; made where it is missing
  std::function<bool(const Row&)> wanted = {};  // of the rows of that system; not set: all
  std::int64_t now = 0;                         // seconds since 1970
  const cache::Store* store = nullptr;          // see Derivation
  std::function<Result<void>(const acquire::Question&)> consent = {};
};

// The release that a request is for.
struct ReleaseOfIndex {
  std::string version;
  // A newer one that is not used now.
  std::optional<SkippedRelease> skipped;
};

struct FromIndex {
  std::vector<std::string> builds;  // ids, in the plan's order; at least one
  std::vector<Diagnosis> left_out;  // of rows whose flavor no build has: EH-M19
  std::vector<Fact> facts;
  std::uint64_t fetched = 0;
  bool changed = false;  // the repository
};

// One request for builds of the package index. One thread at a time, any number of processes: one derives at
// a time for a folder.
class DerivedRepository {
 public:
  // Reads the plan, both repositories and what earlier requests saw of the index. `all` and `options` must
  // outlive this object. Errors: EH-M18 of the plan; EH-S37 if it has no wanted row for the system; those of
  // reading files.
  static Result<std::unique_ptr<DerivedRepository>> open(FromIndexRequest request, Index& all,
                                                         const transfer::TransferOptions& options,
                                                         const std::optional<CancelToken>& cancel = {});

  // Returns the newest release that the version specifier accepts and a wanted row serves, and that is old
  // enough and not withdrawn. A release with a wanted row for an accelerator goes before a newer one without.
  // Errors: EH-S37 if there is none, with the reason or the nearest ones; EH-M20 if
  // a file of it has another digest than before; those of Index::releases().
  Result<ReleaseOfIndex> release(const std::string& specifier);

  // Derives rows of that version and adds them to the repository, beside those that were derived before: of
  // each flavor the first in the plan's order that can be derived. Each has priority -1000, so that no build
  // that somebody verified is passed over. Errors: EH-S37 if no row serves the version; EH-M19 if none could
  // be derived: the first one's, also of a row whose plugin ("component") was not compiled here. Those of
  // derive_row() for the network and the disk.
  Result<FromIndex> derive(const std::string& version, const transfer::ProgressCallback& progress = {});

  // Returns the versions that were derived before and that the specifier accepts, newest first.
  std::vector<std::string> derived_before(const std::string& specifier) const;

  // The ids of the licenses of everything that may be fetched.
  std::vector<std::string> licenses() const;

 private:
  DerivedRepository(FromIndexRequest request, Plan plan, Json own, std::optional<Json> before, Memory memory,
                    Index& all, const transfer::TransferOptions& options,
                    const std::optional<CancelToken>& cancel);

  Result<void> keep_wanted_rows();
  Diagnosis unserved(const std::string& version) const;
  Diagnosis unknown(const std::string& specifier, const std::vector<std::string>& known) const;
  Diagnosis unusable(const SkippedRelease& skipped, const std::vector<std::string>& known) const;
  std::string how_to_compile(const std::string& version) const;
  std::optional<Diagnosis> without_own_components(const Row& row, const std::string& version) const;
  bool is_here(const std::string& component) const {
    return !own_["components"][component]["artifacts"].as_array().empty();
  }
  Result<FromIndex> derive_rows(const Derivation& derivation, const std::string& version,
                                std::vector<DerivedRow>& rows) const;
  Json joined(const Json& before, const std::vector<DerivedRow>& rows) const;
  Result<bool> write(const std::vector<DerivedRow>& rows) const;

  const FromIndexRequest request_;
  Plan plan_;
  const Json own_;  // the manifest of the engine in EngineHost's own repository, or an empty object
  const std::optional<Json> before_;  // that of the derived repository
  Memory memory_;
  NamedFiles named_;
  VettedIndex index_;
  const transfer::TransferOptions& options_;
  const std::optional<CancelToken> cancel_;
};

}  // namespace enginehost::follow
