// Decisions that may be reused.
//
// The cache keeps one file per request and settings, in <state>/ready. A file holds the key of the request,
// the build that was chosen, the load order and warnings of its proof, and one dependency stamp per line for
// everything the choice depends on (dependency_stamp.hpp). find() returns the decision only while every
// dependency is unchanged. The open then goes straight to loading (docs/decisions/011).
//
// A file that changes within the clock resolution of its file system can keep its time. keep() therefore
// stores nothing if a dependency changed less than half a second before the request began, or less than three
// seconds on a file system that counts whole seconds.
//
// Thread safety: one thread at a time, as for OpenContext. Errors: none. A damaged file counts as a miss, and
// keep() ignores a failed write.
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
  std::string build, digest, artifacts;  // the digests are those of the proof
  bool fallback = false;                 // as Outcome::fallback
  std::vector<std::string> load_order;   // of the proof
  std::vector<std::string> warnings;     // lasting ones, each a JSON document in one line
  std::vector<std::string> passed_over;  // one message for each system layer that is skipped
  bool opened_before = false;            // true: this program opened the build before and survived
  std::string program;                   // history::program_id(), if it was determined before
  std::string machine;                   // platform::machine_key()
  std::string dependency_stamps;         // the stamp lines of the file (dependency_stamp.hpp)
};

// Finds and keeps the decision of one request under one set of settings.
class DecisionCache {
 public:
  // `open` is the request before settings complete it. Records the current time and the machine key. Files
  // that change from here on are not settled. Libraries that this process loads from here on are not part of
  // the key, because another process with the same request does not have them.
  DecisionCache(OpenContext& context, const OpenRequest& open);

  // Returns the cached decision if everything that it depends on is unchanged. Reads one small file and calls
  // stat() on each path in it. The store checks the build's own files.
  std::optional<CachedDecision> find() const;

  // Stores the decision of an outcome, unless anything about it is temporary. It is stored only if the build
  // was proven and first in rank, no candidate failed, every repository could be read, all warnings are
  // lasting ones, each skipped system layer is skipped for a lasting reason, and every dependency is settled.
  // Otherwise does nothing.
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
