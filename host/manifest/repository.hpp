// Repositories: an index with the digests of its manifests, in a folder or behind a URL.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/location.hpp"
#include "base/text.hpp"
#include "host/manifest/catalog.hpp"
#include "host/manifest/trust/trust_store.hpp"

namespace enginehost::manifest {

using enginehost::is_url;

// Returns the location of `path` below a repository (a folder or a URL). In a URL, characters that are not
// plain become %XX.
std::string below(const std::string& location, const std::string& path);

// Limits of one repository. A repository beyond the last two is refused, and so is a manifest beyond the
// first: EH-M07, or the reader's error. EngineHost's own repository has 6 manifests of 0.3 MB.
constexpr std::uint64_t largest_document = 8u << 20;  // bytes of an index or a manifest
constexpr std::size_t most_manifests = 500;
constexpr std::uint64_t most_manifest_bytes = 64u << 20;  // of all manifests together

// A document that will be read, and the most bytes that are accepted of it.
struct Expected {
  std::string location;
  std::uint64_t limit = largest_document;
};

// Reads the bytes of documents. The caller supplies it: FolderReader below for folders, and for URLs a reader
// that host/open builds on host/transfer. Used by one thread at a time.
class DocumentReader {
 public:
  virtual ~DocumentReader() = default;
  // Announces the documents that are probably read next, so that a server is asked for them at once. The
  // answers are held until they are read. Failures are returned by read().
  virtual void expect(const std::vector<Expected>&) {}
  // Returns the whole document at `location` (an absolute path or a URL), at most `limit` bytes.
  virtual Result<std::string> read(const std::string& location, std::uint64_t limit) = 0;
  // The same for a document whose digest the index holds: its text cannot change while the index does not.
  virtual Result<std::string> read_listed(const std::string& location, std::uint64_t limit) {
    return read(location, limit);
  }
  // From now on ignores kept copies of documents. Returns false when reading again could not return anything
  // else.
  virtual bool refetch() { return true; }
  // The same if kept copies of documents were used that are older than so many seconds; else returns false.
  virtual bool refetch_older_than(std::int64_t) { return false; }
  // Everything read so far proved valid: copies may be kept.
  virtual void accept() {}
  // A reader may keep manifests by digest, so that an unchanged one is not fetched twice.
  virtual std::optional<std::string> kept(const std::string&) { return {}; }
  virtual void keep(const std::string& /*sha256*/, const std::string& /*bytes*/) {}
};

// Reads files. Error: EH-F01 ("place" = "repository") when a file is missing, unreadable or too long ("size",
// "limit").
class FolderReader : public DocumentReader {
 public:
  Result<std::string> read(const std::string& location, std::uint64_t limit) override;
};

struct IndexEntry {
  std::string path, sha256;
  std::uint64_t size = 0;
  std::string engine;  // as the path names it (path_of_manifest()); empty: the index does not say
};

// Returns the path that names the engine of a manifest: "manifests/ENGINE-SHA256.json". The path says it
// because older readers warn of unknown members of an index.
std::string path_of_manifest(const std::string& engine, const std::string& sha256);

// The signatures that a repository needs; the store must outlive this value.
struct Trust {
  const TrustStore& store;
  bool required = false;  // false: it may be unsigned as long as no key was trusted for it
  bool offline = false;   // an expired authentic index is then accepted...
  std::optional<std::int64_t> max_staleness_seconds;  // ... for this long after its date; empty: forever
  // When a copy of a repository's documents is read: the location that keys and stored versions are filed
  // under. Empty: the location that is read.
  std::string known_as = {};
};

struct Index {
  std::string name, created, expires;
  std::int64_t serial = 0;
  std::vector<IndexEntry> manifests;
  std::vector<Blocked> blocked;
  std::optional<IndexEntry> vendor_facts;  // the document of host/vendor_facts, if it has one
  std::vector<std::string> warnings;
};

// Returns the path of a document of vendor facts in a repository.
std::string path_of_vendor_facts(const std::string& sha256);

struct Reading;
class Fields;
// Reads the member "blocked", which index.json and a publisher's repository.json share.
std::vector<Blocked> read_blocked(Reading& reading, Fields& fields);

// Errors: EH-M02, EH-M03 and EH-M04 as read_manifest(); EH-M06 ("path") when a manifest's path leads out of
// the repository.
Result<Index> read_index(const Json& document, const std::string& name);

struct RepositoryContent {
  std::string location;
  Index index;
  std::vector<std::string> signed_by;  // key ids; empty: not verified
  // For which the keys are trusted; manifests of others are left out. Empty: all.
  std::vector<std::string> engines;
  bool timestamp_expired = false;  // the server, or a kept copy, has no valid timestamp.json
  std::string expired;  // the date that has passed, after which nothing new may be installed; or empty
  std::vector<std::shared_ptr<const Manifest>> manifests;
  std::set<std::string> unread_engines;  // of manifests that were not needed
  std::vector<std::string> warnings;     // expired, unknown fields
  std::vector<Diagnosis> failures;       // manifests that could not be used; the others are still used
};

// Reads index.json below `location` (an absolute folder or a URL) and every manifest it lists. `now`, in
// seconds since 1970, decides what has expired. A manifest whose size or digest differs from the index is not
// used: EH-M05 ("document", "expected", "found", or "expected_size", "size"). The whole call fails only when
// the index cannot be used: EH-M07 ("repository", "problem", and the reader's facts). With `trust`, wrong
// signatures are EH-M08 to EH-M11 and EH-M13 (trust/signed_repository.hpp). Without `trust`, signatures are
// not checked. With `engines`, manifests that the index names for other engines are not read. A manifest of
// another engine than the index names is not used: EH-M02.
Result<RepositoryContent> load_repository(const std::string& location, DocumentReader& reader,
                                          std::int64_t now, const Trust* trust = nullptr,
                                          const std::set<std::string>& engines = {});

// Reads only the index, verified, and stores what was seen (versions, blocks). For a repository whose builds
// are installed and that the request does not name.
Result<RepositoryContent> load_index(const std::string& location, DocumentReader& reader, std::int64_t now,
                                     const Trust& trust);

// Returns the bytes of the repository's document of vendor facts, verified against the index as a manifest
// is; nothing if the index names none. Errors: EH-M05, and those of the reader.
Result<std::optional<std::string>> read_vendor_facts(const RepositoryContent& content,
                                                     DocumentReader& reader);

// Merges a repository into the catalog, after the repositories that are already in it.
void merge(Catalog& catalog, const RepositoryContent& repository);

// Returns "2026-11-20T00:00:00Z" as seconds since 1970; nothing for any other text.
std::optional<std::int64_t> seconds_of_time(const std::string& text);

}  // namespace enginehost::manifest
