// Decisions that are found before settings are read.
//
// An open that used a cached decision also stores an early decision, in <cache>/state/shortcuts. The next
// open by it does not read settings. Its key covers everything that the settings follow from: flags,
// environment variables, folders of program and library, user and machine. Its lines add the stamps of the
// files that settings were read from. find() returns it only while all of that is unchanged
// (docs/decisions/011).
//
// Thread safety: one thread. Errors: none. A damaged file counts as a miss, and keep() ignores a failed
// write.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/files.hpp"
#include "host/open/cached_decision.hpp"
#include "host/open/open.hpp"
#include "host/open/open_context.hpp"
#include "host/settings/settings.hpp"

namespace enginehost::open {

// Stamps of the folders of installed builds and of records (open_context.hpp), without sizes. Zeros: not
// there.
struct Folders {
  FileStamp builds, records;
  bool operator==(const Folders&) const = default;
};

// An early decision, with the settings that an open needs.
struct EarlyDecision {
  OpenContext::Places places;
  CachedDecision decision;
  // The build's record without the manifest. Has no digest if the store must read the record.
  cache::Installed installed;
  std::string flavor, device;  // from the settings
  bool offline = false;
  Folders folders;  // at the time of find()
};

// Finds and keeps the early decision of one request under one set of flags.
class EarlyDecisionCache {
 public:
  // Records the time, the flags, the environment and the loaded libraries. Construct it before settings are
  // read.
  EarlyDecisionCache(const settings::FlagValues& flags, const OpenRequest& open);

  // Returns the early decision if everything that it depends on is unchanged. Reads one small file and checks
  // each line of it. The store checks the build's own files.
  std::unique_ptr<EarlyDecision> find() const;

  // Stores an early decision for an open that used a cached decision, if all its files are at rest. Otherwise
  // does nothing.
  void keep(OpenContext& context, const Outcome& outcome, const CachedDecision& decision) const;

 private:
  std::string key_;  // empty: this request has no early decision
  std::string cache_, file_;
  std::int64_t began_ns_ = 0;
  // platform::machine_key_text() from before the load, without the libraries that the build brings.
  mutable std::string machine_text_;
};

}  // namespace enginehost::open
