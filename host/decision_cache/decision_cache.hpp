// Decisions that may be reused.
//
// The cache keeps one file per request, in <cache>/state/decisions. Its key covers everything that the
// request and its settings follow from: flags, environment variables, folders and files of program and
// library, user and machine. The file holds the key, the build that was chosen with the load order and the
// warnings of its proof, and the dependencies of the decision (dependency.hpp). find() needs no settings; it
// returns the decision only while every dependency is unchanged. The open then goes straight to loading
// (docs/decisions/011).
//
// There is no cached decision for a request whose settings follow from more than the key can hold: a relative
// folder among the flags, no home folder, or a configuration file that moves the cache. Nor is there one in a
// cache that cannot be written.
//
// Thread safety: one thread. Errors: none. A damaged file counts as a miss, and keep() ignores a failed
// write.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cache/installed.hpp"
#include "host/context/open_context.hpp"
#include "host/context/request.hpp"
#include "host/decision_cache/dependency.hpp"
#include "host/settings/settings.hpp"

namespace enginehost::open {

struct CachedDecision {
  std::string cache_folder, state_folder;
  std::vector<std::string> system_layers;
  RequestDefaults defaults;
  std::string build, digest, artifacts;  // the digests are those of the proof
  bool fallback = false;                 // as Outcome::fallback
  bool opened_before = false;            // true: this program opened the build before and survived
  std::string program;                   // history::program_id()
  std::vector<std::string> load_order;   // of the proof
  std::vector<std::string> warnings;     // lasting ones, each a JSON document in one line
  // The accelerators that the engine must list, and why those that are not used fail; JSON documents.
  bool has_accelerators = false;  // false: they are not compared
  std::vector<std::string> accelerators, unusable;
  std::vector<std::string> passed_over;  // one message for each system layer that is skipped
  // The build's record without the manifest. Has no digest if the store must read the record.
  cache::Installed installed;

  OpenContext::Places places() const;
};

// Finds and keeps the decision of one request under one set of flags.
class DecisionCache {
 public:
  // Finds and keeps nothing.
  DecisionCache() = default;
  // Records the time, the flags, the environment and the loaded libraries. Construct it before settings are
  // read: files that change from here on are not settled. Libraries that this process loads from here on are
  // not part of the key, because another process with the same request does not have them.
  // `probe`, `probe_deadline`: as AttemptOptions.
  DecisionCache(const settings::FlagValues& flags, const resolve::Request& request, bool probe,
                std::optional<std::chrono::seconds> probe_deadline);

  // Returns the cached decision if everything that it depends on is unchanged, and nobody may change it who
  // may not change the cache. Reads one small file and checks each dependency in it. The store checks the
  // build's own files.
  std::optional<CachedDecision> find() const;

  // Records the machine as the decision will find it. Call it after settings were read and before deciding.
  void begin(const OpenContext& context);

  // Stores the decision that opened the build, unless something about it is temporary: a repository could not
  // be read, a warning or the reason to skip a layer is not a lasting one, or a dependency is not settled.
  // The build must be proven, and nothing may have failed. Otherwise does nothing.
  void keep(OpenContext& context, const resolve::Plan& plan, const cache::Installed& opened, bool fallback,
            const std::vector<Diagnosis>& warnings);

 private:
  std::string first_lines_;  // of the file, with the key; empty: this request has no cached decision
  std::string machine_;      // platform::machine_key_text(), a part of the key
  std::string cache_, file_;
  bool cache_is_named_ = false;
  std::optional<DependencySet> dependencies_;
  std::int64_t began_ns_ = 0;
};

}  // namespace enginehost::open
