// The keys that this user trusts, and the last state of each signed repository: <state>/trust.
//
//   keys.json                  the keys that were trusted by hand
//   <repository>.json          its root, the newest version seen, the newest signed time, what it blocked
//
// A repository is one place, however its location is written (base/location.hpp).
//
// Where a key of a place is known, a key that is trusted for some engines of every place does not speak for
// that place. What such a key left there before (a root, versions, blocks) does not count, and gives way to
// what the key of the place signs.
//
// A read-only system layer may hold the same files below its state folder, even if it was prepared on another
// machine. Its keys are trusted too, and its versions are a floor for ours. The same holds for the state
// folder of a cache that cannot be written, so that what was trusted there still counts. Nothing of a folder
// is read that another user could have written (base/ownership.hpp).
//
// The floor of the index (version, digest, time) starts over when a root removes a key that could have set
// it, because a stolen key may have set it as high as it goes (fast-forward attack; TUF specification 1.0.33,
// section 5.3.11).
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "host/manifest/catalog.hpp"
#include "host/manifest/trust/minisign.hpp"

namespace enginehost::manifest {

struct TrustedKey {
  PublicKey key;
  std::string repository;            // only for this location; empty: for every location
  std::vector<std::string> engines;  // may sign for these engines only; empty: for all
  // How many of the location's trusted keys must have signed its first root. The root itself cannot say it: a
  // thief of one key would write another number into it.
  std::int64_t threshold = 1;
  std::string added;  // when: "2026-11-20T00:00:00Z"
  std::filesystem::path file;
  bool own = true;  // false: from a system layer or a read-only state folder
};

// The stored state of one repository.
struct Seen {
  std::string root;  // the accepted root.json, byte for byte; empty: none yet
  std::int64_t root_version = 0, index_version = 0, timestamp_version = 0;
  std::string index_sha256;  // of the index with that version
  std::int64_t time = 0;     // the newest signed time; the clock cannot be earlier
  // Ids of the trusted keys that signed the first root; empty: unknown (stored by an older version). The root
  // counts as long as one of them is trusted.
  std::vector<std::string> trusted_by;
  std::int64_t floor_since = 0;  // the version of the root with which the index's floor started over
  std::vector<std::string> index_signers;  // ids of the keys that signed the index with that version
  std::vector<Blocked> blocked;            // with the engines for which the keys were trusted then
  bool operator==(const Seen&) const = default;
};

// Returns the engines for which the keys that signed the first root are trusted; empty: all. What was said of
// a key for this repository replaces what was said of it for every one.
std::vector<std::string> engines_of(std::vector<TrustedKey> keys, const Seen& seen);

// A handle without state of its own. Thread safety: any thread, any number of processes. Changes are made
// under a lock; each file is replaced as a whole and durably.
class TrustStore {
 public:
  // `state`: empty when there is none; nothing is remembered then. `read_state`: a second state folder that
  // cannot be written; or empty.
  TrustStore(std::filesystem::path state, std::vector<std::filesystem::path> layers,
             std::filesystem::path read_state = {});

  // Returns all keys, ours first. Errors: EH-M01, EH-M02 or EH-M15 for an unreadable file, because trusted
  // keys must not be guessed.
  Result<std::vector<TrustedKey>> keys() const;
  // Returns the keys that may sign for this repository.
  Result<std::vector<TrustedKey>> keys_for(const std::string& repository) const;
  // Replaces an earlier entry of the same key and repository, so what was said last counts. Errors: EH-F16
  // with "folder" when there is no state folder, and the errors of writing.
  Result<void> add(TrustedKey key) const;
  // Removes our key and the roots that list it. Those repositories start again with the remaining keys, and
  // their versions stay as a floor. Returns false when we have no such key. Error: EH-F16 ("place", "folder")
  // when the key is stored where this user cannot remove it.
  Result<bool> remove(std::string_view key_id) const;

  // Returns the newer values of our own state and the read-only ones, as far as they count.
  Result<Seen> seen(const std::string& repository) const;
  // Returns the location and the state of every repository that is known here, of ours and of the read-only
  // folders. Errors: EH-M01, EH-M02 for an unreadable file, because a block must not be overlooked.
  Result<std::vector<std::pair<std::string, Seen>>> all_seen() const;
  // Returns the folder that changes with every change of our own state; empty without one.
  const std::filesystem::path& folder() const { return folder_; }
  // Lowers a version only if the floor started over since. Does nothing when nothing changes.
  Result<void> remember(const std::string& repository, const Seen& seen) const;

  // Removes the root, the versions and the blocks of a repository from our own state: it is then new to this
  // machine. Its keys stay. Returns false if nothing was stored. Errors: EH-F16, and those of the lock.
  Result<bool> forget(const std::string& repository) const;

  // Returns a sentence for each layer folder whose keys and versions do not count, because they cannot be
  // read or another user could have written them.
  std::vector<std::string> unreadable() const;

  // Returns the files that the trust in this repository depends on, whether they exist or not.
  std::vector<std::filesystem::path> files(const std::string& repository) const;

 private:
  // Adds a sentence for each folder that does not count to `unreadable`.
  std::vector<std::filesystem::path> folders_of_layers(std::vector<std::string>& unreadable) const;
  // Our own folder first, then those that are only read.
  std::vector<std::filesystem::path> all_folders() const;

  std::filesystem::path folder_, read_folder_;
  std::vector<std::filesystem::path> layers_;
};

}  // namespace enginehost::manifest
