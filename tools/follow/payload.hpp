// Facts that the libraries of a wheel's selected files state about themselves, and the memory of what earlier
// runs read.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "base/result.hpp"
#include "host/acquire/acquire.hpp"
#include "host/manifest/catalog.hpp"
#include "host/transfer/progress.hpp"
#include "tools/follow/plan.hpp"
#include "tools/follow/wheel.hpp"
#include "tools/publish/artifact_facts.hpp"

namespace enginehost::follow {

// The digests that earlier runs saw under the names of files.
class NameMemory {
 public:
  // Reads the plan's facts, its components and its manifest. What cannot be read is not remembered.
  explicit NameMemory(const Plan& plan);
  // Errors: EH-M19 ("expected", "actual"): the file had another digest, and the index says that no file
  // changes.
  Result<void> check(const PublishedFile& file) const;

 private:
  void add(const Json& components);
  std::map<std::string, std::vector<std::string>> known_;
};

struct Payload {
  publish::ArtifactFacts facts;
  bool remembered = false;    // read by an earlier run
  std::uint64_t fetched = 0;  // bytes over the network
  bool whole = false;         // they are those of the whole archive
};

struct PayloadPlace {
  const std::filesystem::path& memory;   // the plan's facts
  const std::filesystem::path& scratch;  // emptied, except for what an interrupted download left
  // Takes the place of the scratch folder; the files stay there. Not set: none.
  const cache::Store* store = nullptr;
};

// Returns the facts of the artifact's files, from the memory or by unpacking them into the cache or the
// scratch folder, as users' machines do: every file is compared with RECORD, and a whole archive with the
// index's digest. The facts of `others`, which select other files of the same archive, are kept with the same
// download. Errors: EH-M19 for other bytes than RECORD or the index state. Those of acquire::acquire(). After
// a failure of the disk the scratch folder is removed.
Result<Payload> payload_of(const Wheel& wheel, const manifest::Artifact& artifact,
                           const std::vector<manifest::Artifact>& others, const PayloadPlace& place,
                           const acquire::AcquireOptions& options, const transfer::ProgressCallback& progress,
                           const std::optional<CancelToken>& cancel);

}  // namespace enginehost::follow
