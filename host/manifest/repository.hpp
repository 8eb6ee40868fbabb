// Repositories: an index with the digests of its manifests, in a folder or behind a URL.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "host/manifest/catalog.hpp"
#include "host/manifest/trust/trust_store.hpp"

namespace enginehost::manifest {

// How the bytes of a document are had. The caller passes one in: folders are served by FolderReader below,
// URLs by a reader that host/open makes over host/transfer. Used by one thread at a time.
class DocumentReader {
 public:
  virtual ~DocumentReader() = default;
  // The whole document at `location` (an absolute path or a URL), at most `limit` bytes.
  virtual Result<std::string> read(const std::string& location, std::uint64_t limit) = 0;
  // The same of a document whose digest the index holds: while the index stays, no other text of it is used.
  virtual Result<std::string> read_listed(const std::string& location, std::uint64_t limit) {
    return read(location, limit);
  }
  // From here on no copy serves that was kept of a document. False when asking again would bring nothing
  // else.
  virtual bool refetch() { return true; }
  // What was read so far proved right: copies of it may be kept.
  virtual void accept() {}
};

// Reads files. EH-F01 ("place" = "repository") when one is missing or not readable, or too long ("size",
// "limit").
class FolderReader : public DocumentReader {
 public:
  Result<std::string> read(const std::string& location, std::uint64_t limit) override;
};

// Remembers documents by digest, so that a manifest that did not change is not fetched twice. Optional.
class DocumentMemory {
 public:
  virtual ~DocumentMemory() = default;
  virtual std::optional<std::string> find(const std::string& sha256) = 0;
  virtual void keep(const std::string& sha256, const std::string& bytes) = 0;
};

struct IndexEntry {
  std::string path, sha256;
  std::uint64_t size = 0;
};

// How a repository has to prove itself; the store must outlive the use.
struct Trust {
  const TrustStore& store;
  bool required = false;  // false: it may be unsigned, as long as nobody trusted a key for it
  bool offline = false;   // an authentic index that has expired is then tolerated...
  std::optional<std::int64_t> max_staleness_seconds;  // ... for so long after its date; nothing: for ever
  // The location that keys and memory go by, where a copy of that repository's documents is read; empty: the
  // one read.
  std::string known_as = {};
};

struct Index {
  std::string name, created, expires;
  std::int64_t serial = 0;
  std::vector<IndexEntry> manifests;
  std::vector<Blocked> blocked;
  std::vector<std::string> warnings;
};

struct Reading;
class Fields;
// The member "blocked", which a publisher's repository.json has as the index has it.
std::vector<Blocked> read_blocked(Reading& reading, Fields& fields);

// EH-M02, EH-M03 and EH-M04 as read_manifest; EH-M06 when a manifest's path would leave the repository
// ("path").
Result<Index> read_index(const Json& document, const std::string& name);

struct RepositoryContent {
  std::string location;
  Index index;
  std::vector<std::string> signed_by;  // key ids; empty: it was not verified
  std::string expired;  // the date that has passed: nothing new may be installed; empty: none has
  std::vector<std::shared_ptr<const Manifest>> manifests;
  std::vector<std::string> warnings;  // expired, unknown fields
  std::vector<Diagnosis> failures;    // manifests that could not be used; the others still serve
};

// Reads index.json below `location` (an absolute folder or a URL) and every manifest it lists. A manifest
// whose size or digest differs from the index is not used: EH-M05 ("document", "expected", "found", or
// "expected_size", "size"). `now` in seconds since 1970 decides what has expired. Fails as a whole only when
// the index cannot be used: EH-M07 ("repository", "problem", and what the reader said), and where `trust` is
// given and signatures are not right EH-M08 to EH-M11 and EH-M13 (trust/signed_repository.hpp). Without
// `trust` signatures are not looked at.
Result<RepositoryContent> load_repository(const std::string& location, DocumentReader& reader,
                                          std::int64_t now, DocumentMemory* memory = nullptr,
                                          const Trust* trust = nullptr);

// Merges a repository into the catalog, after those that are in it already.
void merge(Catalog& catalog, const RepositoryContent& repository);

// "2026-11-20T00:00:00Z" as seconds since 1970; nothing for any other text.
std::optional<std::int64_t> seconds_of_time(const std::string& text);
// The inverse.
std::string text_of_time(std::int64_t moment);

}  // namespace enginehost::manifest
