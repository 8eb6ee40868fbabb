// Manifests kept in a compact binary form, so that JSON is parsed once for each change and not for each
// program start.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "host/manifest/catalogue.hpp"

namespace enginehost::manifest {

// What the kept manifests were read from. They serve only while the key is the same and every document's
// stamp is.
struct IndexOrigin {
  std::string key;  // the repositories in their order, and for one behind a URL the digest of its index
  std::vector<std::pair<std::string, FileStamp>>
      documents;  // index.json and manifests of folder repositories
};

// The origin for files that are there now; EH-F01 when one is not.
Result<IndexOrigin> origin_of(std::string key, const std::vector<std::string>& documents);

// Writes the manifests, in order. Errors as write_file().
Result<void> write_index_cache(const std::filesystem::path& file, const IndexOrigin& origin,
                               const std::vector<std::shared_ptr<const Manifest>>& manifests);

// The manifests in their order; nothing when the file is absent, of another version, damaged, made from
// something else, or when a document has changed since: the caller then reads the JSON. Never trusts a length
// or count in the file.
std::optional<std::vector<std::shared_ptr<const Manifest>>> read_index_cache(
    const std::filesystem::path& file, const std::string& key);

}  // namespace enginehost::manifest
