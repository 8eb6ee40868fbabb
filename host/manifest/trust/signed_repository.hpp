// Verifies a repository's files and returns its index: root, signatures, versions, dates.
//
// Nothing is parsed before enough trusted keys have signed its bytes. The steps and what each defends
// against:
//   1. root.json is the root accepted before, or is signed by enough of that root's keys and of its own.
//      If it is several versions newer, roots/N.json lead there one by one. The first time, the keys trusted
//      by hand take the place of the previous root.
//   2. index.json is signed by enough of the root's keys, and its role and version are those they signed.
//   3. Its serial is not below any seen before, because a replayed index hides withdrawn builds.
//   4. Its date and the root's have not passed, by the clock or the newest signed time, whichever is later.
//   5. If the root has keys for it: timestamp.json, valid for some hours, names this index. Otherwise a
//   server could hide
//      a newer one. Folders and bundles are not judged by it.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/manifest/repository.hpp"
#include "host/manifest/trust/root.hpp"
#include "host/manifest/trust/trust_store.hpp"

namespace enginehost::manifest {

// The documents of one repository; each is read once.
class RepositoryFiles {
 public:
  // `known_as`: see Trust; empty: the location.
  RepositoryFiles(std::string location, DocumentReader& reader, std::string known_as = {})
      : location_(std::move(location)),
        known_as_(known_as.empty() ? location_ : std::move(known_as)),
        reader_(reader) {}

  const std::string& location() const { return location_; }
  const std::string& known_as() const { return known_as_; }
  // Announces the documents that are probably looked for next (DocumentReader::expect).
  void expect(const std::vector<std::string>& paths);
  // Returns the whole document, or nothing when the repository has no such file. Other failures (no network)
  // are errors.
  Result<std::optional<std::string>> find(const std::string& path);
  std::string name_of(const std::string& path) const;

 private:
  std::string location_, known_as_;
  DocumentReader& reader_;
  std::map<std::string, std::optional<std::string>> known_;
};

// The keys that must have signed a document.
struct Signers {
  Role role = Role::index;
  std::vector<PublicKey> keys;
  std::int64_t threshold = 1;
  std::vector<std::string> revoked;  // only to report that the signer was one of these
};

struct SignedBy {
  std::vector<std::string> key_ids;
  Statement statement;
};

// Checks that enough of the keys signed these bytes with the same statement. `path` is the document's path in
// the repository; signatures are "<path>.<key id>.minisig". Errors: EH-M08: too few signatures ("document",
// "repository", "expected", "found", "key_id"...). EH-M09: a signature is wrong ("signature", "key_id",
// "problem"). EH-M10: no trusted key signed it. EH-M13: only a revoked key did ("key_id").
Result<SignedBy> check_signatures(RepositoryFiles& files, const std::string& path, const std::string& bytes,
                                  const Signers& signers);

struct VerifiedIndex {
  std::string bytes;
  Root root;
  SignedBy signed_by;
  std::vector<std::string> engines;  // for which the trusted keys may sign; empty: all
  Seen seen;                         // to be remembered once the index proved readable
};

// Steps 1 and 2, and the versions of the roots (EH-M11). Returns nothing when the repository is not signed
// and `required` is false.
Result<std::optional<VerifiedIndex>> open_signed(RepositoryFiles& files, const TrustStore& store,
                                                 bool required);

// Step 3, and the index against its signers' statement. Errors: EH-M11 when the index is older than the one
// seen before, or another one with the same serial; EH-M09 when it differs from the statement. Completes
// `verified.seen`.
Result<void> check_index(const Index& index, const std::string& repository, VerifiedIndex& verified);

// Checks timestamp.json of a repository behind a URL whose root has keys for it, and returns the date when it
// expires; nothing for other repositories. Errors: EH-M08 (missing, or too few signatures) to EH-M10 and
// EH-M13; EH-M11: it is older than one seen before, or names a newer index. Completes `verified.seen`.
Result<std::optional<std::string>> check_timestamp(RepositoryFiles& files, const Index& index,
                                                   VerifiedIndex& verified);

// Step 4: returns the date that has passed, if any.
std::optional<std::string> expired(const Index& index, const VerifiedIndex& verified, std::int64_t now);

// Accepts a new root by the one before it (step 1). `path` is its path in the repository. Error: EH-M11 when
// its version is not above `version`.
Result<Root> step_to(RepositoryFiles& files, const std::string& path, const std::string& bytes,
                     const Signers& before, std::int64_t version);

}  // namespace enginehost::manifest
