// A cached decision: that a request led to this build the last time, and the stamps of everything which that
// decision rested on. While all of them stay, the open goes straight from here to loading
// (docs/decisions/011).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/open/open_context.hpp"

namespace enginehost::open {

struct OpenRequest;
struct Outcome;

struct CachedDecision {
  std::string build, digest, artifacts;  // the two digests are of the proof
  bool fallback = false;                 // as Outcome::fallback
  std::vector<std::string> load_order;   // of the proof
  std::vector<std::string> warnings;     // that last, each a document in one line
  std::vector<std::string> passed_over;  // what is told of system layers that nothing is taken from
  bool opened_before = false;            // this program is known to have survived that
  std::string program;                   // its name (history::program_id), where that was asked for before
  std::string machine;                   // the key
  std::string dependency_stamps;         // its lines of what it rests on (witness.hpp)
};

// One request under one set of settings; its cached decision lies in <state>/ready.
class DecisionCache {
 public:
  // `open` is the request as it was made. Remembers the time and the machine: what changes from here on is
  // not settled, and what is loaded from here on is in no other process that asks the same.
  DecisionCache(OpenContext& context, const OpenRequest& open);

  // The cached decision, if there is one and nothing that it rests on has changed: one small file is read,
  // and what it names is stat'ed. The build's own files are for the store to look at.
  std::optional<CachedDecision> find() const;

  // Keeps a cached decision of an outcome that rested on nothing passing: a proven build, the first in rank,
  // no failed candidate, no warning but those that last, no repository that could not be read, no system
  // layer that is passed over for what may pass, every file at rest. Else, and where the folder cannot be
  // written, nothing happens.
  void keep(const Outcome& outcome) const;

 private:
  std::vector<std::string> rests_on(const Outcome& outcome) const;
  bool rests_on_transient(const Outcome& outcome) const;
  std::vector<std::string> lasting_warnings(const Outcome& outcome) const;
  bool rests_on_a_limit(const Outcome& outcome) const;
  std::int64_t valid_until() const;

  OpenContext& context_;
  bool usable_;
  std::string key_;
  std::filesystem::path file_;
  std::int64_t began_ns_;
  std::string machine_;
};

}  // namespace enginehost::open
