// engine-manifest sign: root and index, by whoever holds a key of the root.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "host/publish/secret_key.hpp"
#include "host/publish/workspace.hpp"

namespace enginehost::publish {

// What a new root changes about the one before.
struct RootChange {
  // For both roles, or for one alone; what the root has already gets the role that is named here instead.
  std::vector<manifest::PublicKey> add, add_for_root, add_for_index;
  // Key ids, leading zeros or not. A revoked key is told as such, and may have been left out before.
  std::vector<std::string> remove, revoke;
  std::optional<std::int64_t> root_threshold, index_threshold;
  bool empty() const {
    return add.empty() && add_for_root.empty() && add_for_index.empty() && remove.empty() && revoke.empty() &&
           !root_threshold && !index_threshold;
  }
};

struct Signed {
  std::int64_t root_version = 0, serial = 0;
  std::vector<std::string> documents;  // that were signed now: "index.json by 67F2…"
  std::vector<std::string> missing;  // why publish would refuse it still: one line each; empty: it would not
};

// Makes the root when there is none (of the given keys, thresholds 1), a next one when `change` says so, when
// root.json or the repository's name was edited, or when half of its time is over, and a new index when
// something changed or half of its time is over; then signs with every given key what that key may sign and
// has not signed. Several keepers sign one after the other. EH-M17 ("folder", "problem") for a key that the
// root does not know or has revoked, a change that says two things of one key, or a root that could not be
// signed by its keys; EH-M02 for one that no reader would take. Nothing is changed then.
Result<Signed> sign(const Workspace& workspace, const std::vector<SecretKey>& keys, const RootChange& change,
                    std::int64_t now);

// What root.json says otherwise than its copy under its number and the repository's name: EH-M16 each. Users
// would be led by the one or by the other. Errors of reading.
Result<std::vector<Diagnosis>> root_contradictions(const Workspace& workspace);

// What the root's own date asks for, once half of its time is over: EH-M16. It is renewed by a key that may
// sign roots alone, whatever the others sign each day. Nothing before, and where nothing is signed. Errors of
// reading.
Result<std::optional<Diagnosis>> root_date(const Workspace& workspace, std::int64_t now);
// Whether it is over: then users' machines install nothing of the repository any more.
Result<bool> root_has_expired(const Workspace& workspace, std::int64_t now);

// What is missing for users to believe the folder as it stands: too few signatures of the index, of the root,
// or of the root by the keys before it. Nothing: it may be published. Errors of reading.
Result<std::vector<Diagnosis>> missing_signatures(const Workspace& workspace);

}  // namespace enginehost::publish
