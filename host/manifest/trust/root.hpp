// The root of a signed repository: the keys that may sign for it, and how many must.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "host/manifest/trust/minisign.hpp"

namespace enginehost::manifest {

enum class Role { root, index, timestamp };
std::string_view name_of(Role role);

// The signer's statement about a document, in the signature's trusted comment: "role:index version:42
// ts:1795000000". It keeps a signature of one document from being used for another, and gives the document's
// age before it is read.
struct Statement {
  Role role = Role::index;
  std::int64_t version = 0;  // of the root, or the index's serial
  std::int64_t time = 0;     // seconds since 1970
  std::string text() const;
};
std::optional<Statement> read_statement(std::string_view trusted_comment);

struct RootKey {
  PublicKey key;
  bool root = true, index = true;  // what it may sign
};

// timestamp.json: says for a short time which index is the present one. A server can
// otherwise hide a newer index, and with it the withdrawal of a build, for as long as the old one is valid.
struct Timestamp {
  std::string name;  // the repository's
  std::string created, expires;
  std::int64_t version = 0;
  std::int64_t index_serial = 0;
  std::string index_sha256;
};
Result<Timestamp> read_timestamp(const Json& document, const std::string& name);

inline constexpr std::size_t most_root_keys = 64;

struct Root {
  std::string name;  // the repository's name; an index of another name is rejected
  std::int64_t version = 0;
  std::string created, expires;
  std::vector<RootKey> keys;
  // Keys for timestamp.json; none: the repository has no such document. They are not among `keys`, because
  // older readers refuse a root with an unknown role.
  std::vector<PublicKey> timestamp_keys;
  std::int64_t root_threshold = 1, index_threshold = 1, timestamp_threshold = 1;
  std::vector<std::string> revoked;  // key ids that no longer count, wherever they are listed

  bool is_revoked(std::string_view key_id) const;
  // Returns the keys that count for the role.
  std::vector<PublicKey> keys_for(Role role) const;
  std::int64_t threshold_for(Role role) const {
    return role == Role::root ? root_threshold : role == Role::index ? index_threshold : timestamp_threshold;
  }
};

// Reads root.json. Errors: EH-M02, EH-M03 and EH-M04 as read_manifest(), also for keys that occur twice and
// for a threshold that the keys cannot reach.
Result<Root> read_root(const Json& document, const std::string& name);

}  // namespace enginehost::manifest
