// engine-manifest sign: signs root and index with keys of the root.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tools/publish/secret_key.hpp"
#include "tools/publish/workspace.hpp"

namespace enginehost::publish {

// The changes of a new root to the one before.
struct RootChange {
  // For both roles, or for one only. A key that the root already has gets the named role instead.
  std::vector<manifest::PublicKey> add, add_for_root, add_for_index;
  std::vector<manifest::PublicKey> add_for_timestamp;  // may sign timestamp.json, besides other roles
  // Key ids, with or without leading zeros. A revoked key is listed as revoked, and may have been removed
  // before.
  std::vector<std::string> remove, revoke;
  std::optional<std::int64_t> root_threshold, index_threshold;
  bool empty() const {
    return add.empty() && add_for_root.empty() && add_for_index.empty() && add_for_timestamp.empty() &&
           remove.empty() && revoke.empty() && !root_threshold && !index_threshold;
  }
};

struct Signed {
  std::int64_t root_version = 0, serial = 0;
  std::vector<std::string> documents;  // documents signed now: "index.json by 67F2…"
  std::vector<std::string> missing;    // why publish would still refuse, one line each; empty: it would not
};

// Makes the root when there is none (from the given keys, thresholds 1). Makes a new root when `change`
// requires it, when root.json or the repository's name was edited, or when half of its time has passed. Makes
// a new index when something changed or half of its time has passed. Then signs with every given key what
// that key may sign and has not signed. Several keepers sign one after the other. On an error nothing is
// changed. Errors: EH-M17 ("folder", "problem"): the root does not know the key or has revoked it, `change`
// contradicts itself about a key, or the root's keys could not sign it. EH-M02: no reader would accept the
// root.
Result<Signed> sign(const Workspace& workspace, const std::vector<SecretKey>& keys, const RootChange& change,
                    std::int64_t now);

struct Stamped {
  std::int64_t version = 0;
  std::string expires;
  std::vector<std::string> documents;  // as Signed::documents
};

// Makes a new timestamp.json for the folder's index.json, valid for `hours`, and signs it with these keys.
// The folder is a workspace or what publish wrote; nothing else in it changes, so a scheduled job can do it.
// Any number of processes: the lock of the workspace or of the published folder admits one at a time. It goes
// on without the lock where this user may not make the file. A
// process that is killed between its two writes leaves a document and a signature that clients refuse
// (EH-M09) until the next call. Errors: EH-M17 ("folder", "problem"): it is not signed, or no key is one of
// the root's keys for timestamps; EH-F18 when the lock is held too long; those of reading and writing.
Result<Stamped> stamp(const std::filesystem::path& folder, const std::vector<SecretKey>& keys,
                      std::int64_t hours, std::int64_t now);
inline constexpr std::int64_t usual_timestamp_hours = 48;
inline constexpr const char* timestamp_file = "timestamp.json";

// Returns the version of the folder's timestamp.json, signed by enough of the root's keys; 0 if there is none
// such.
Result<std::int64_t> timestamp_version(const std::filesystem::path& folder,
                                       const std::optional<manifest::Root>& root);

// Returns an EH-M16 for each difference of root.json from its numbered copy and from the repository's name,
// because different users would follow different ones. Errors: those of reading.
Result<std::vector<Diagnosis>> root_contradictions(const Workspace& workspace);

// Returns EH-M16 once half of the root's time has passed. Only a key that may sign roots renews it, no matter
// how often other keys sign. Returns nothing before that, and when nothing is signed. Errors: those of
// reading.
Result<std::optional<Diagnosis>> root_date(const Workspace& workspace, std::int64_t now);
// Returns whether the root has expired: users' machines then install nothing from the repository.
Result<bool> root_has_expired(const Workspace& workspace, std::int64_t now);

// Returns what is missing for users to trust the folder as it is: too few signatures of the index, of the
// root, or of the root by the previous root's keys. Empty: it may be published. Errors: those of reading.
Result<std::vector<Diagnosis>> missing_signatures(const Workspace& workspace);

}  // namespace enginehost::publish
