// What this user trusts, and what was last seen of each signed repository: <state>/trust.
//
//   keys.json                  the keys that were trusted by hand
//   <repository>.json          its root, the newest version seen, the newest signed time, what it blocked
//
// A repository is one place, however its location is written (base/location.hpp).
//
// A read-only system layer may bring the same files (below its state folder, of whatever machine it was
// prepared on): its keys are trusted too, and its versions are a floor for ours. So may the state folder of a
// cache that cannot be written: what was trusted there before counts on.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "host/manifest/catalog.hpp"
#include "host/manifest/trust/minisign.hpp"

namespace enginehost::manifest {

struct TrustedKey {
  PublicKey key;
  std::string repository;  // only for this location; empty: for every one
  std::string added;       // when: "2026-11-20T00:00:00Z"
  std::filesystem::path file;
  bool own = true;  // false: of a system layer, or of a state folder that is only read
};

// The memory of one repository.
struct Seen {
  std::string root;  // the accepted root.json, byte for byte; empty: none yet
  std::int64_t root_version = 0, index_version = 0;
  std::string index_sha256;  // of the index with that version
  std::int64_t time = 0;     // the newest signed time: the clock is not before it
  std::vector<Blocked> blocked;
  bool operator==(const Seen&) const = default;
};

// A handle without state of its own. Any thread, any number of processes: changes are made under a lock, each
// file is replaced whole and durably.
class TrustStore {
 public:
  // `state`: empty when there is none; nothing is remembered then. `read_state`: another one, which cannot be
  // written; or empty.
  TrustStore(std::filesystem::path state, std::vector<std::filesystem::path> layers,
             std::filesystem::path read_state = {});

  // All keys, ours first. A file that cannot be read as such is an error (EH-M01, EH-M02, EH-M15): what was
  // trusted must not be guessed.
  Result<std::vector<TrustedKey>> keys() const;
  // Those that may speak for this repository.
  Result<std::vector<TrustedKey>> keys_for(const std::string& repository) const;
  // EH-F16 with "folder" when there is no state folder, and the errors of writing.
  Result<void> add(TrustedKey key) const;
  // Forgets our key and the roots that list it: those repositories begin again with the keys that are left.
  // Their versions stay as a floor. False when there is no such key of ours; EH-F16 ("place", "folder") when
  // it stands where this user cannot take it away.
  Result<bool> remove(std::string_view key_id) const;

  // Of ours and those that are only read, the newer of each.
  Result<Seen> seen(const std::string& repository) const;
  // Never lowers a version. Nothing happens when nothing changes.
  Result<void> remember(const std::string& repository, const Seen& seen) const;

  // A sentence for each folder of a layer whose keys and versions cannot be read, so that they do not count.
  std::vector<std::string> unreadable() const;

  // The files that an answer for this repository rests on, there or not.
  std::vector<std::filesystem::path> files(const std::string& repository) const;

 private:
  std::vector<std::filesystem::path> read_folders() const;

  std::filesystem::path folder_, read_folder_;
  std::vector<std::filesystem::path> layers_;
};

}  // namespace enginehost::manifest
