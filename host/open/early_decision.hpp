// A cached decision that is found before settings are read: under the flags, the variables and the folders
// that they would follow from, with the stamps of the files that they were read from (docs/decisions/011).
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

// The folders of installed builds and of records (world.hpp) as they were; zeros: not there. Sizes are left
// out.
struct Folders {
  FileStamp builds, records;
  bool operator==(const Folders&) const = default;
};

// Where a early decision leads, with what the settings say of it.
struct EarlyDecision {
  OpenContext::Places places;
  CachedDecision decision;
  // As its record has it, but for the manifest; without a digest where the store has to read it.
  cache::Installed installed;
  std::string flavor, device;  // of the settings
  bool offline = false;
  Folders folders;  // when the way was looked at
};

// One request under one set of flags; its early decision lies in <cache>/state/early decisions.
class EarlyDecisionCache {
 public:
  // Remembers the time, the flags, the environment and what is loaded as they are: make it before settings
  // are read.
  EarlyDecisionCache(const settings::FlagValues& flags, const OpenRequest& open);

  // The way, if there is one and nothing that it rests on has changed: one small file is read, and what it
  // names is looked at. The build's own files are for the store to look at.
  std::unique_ptr<EarlyDecision> find() const;

  // Keeps the way that an open took by its cached decision, for who asks the same with every file at rest.
  // Else, and where the folder cannot be written, nothing happens.
  void keep(OpenContext& context, const Outcome& outcome, const CachedDecision& decision) const;

 private:
  std::string key_;  // empty: there is none for this request
  std::string cache_, file_;
  std::int64_t began_ns_ = 0;
  mutable std::string
      words_;  // platform::machine_key_text() when a way was asked for: what a load brings is not in them
};

}  // namespace enginehost::open
