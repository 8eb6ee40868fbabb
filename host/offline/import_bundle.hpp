// From a bundle to installed builds.
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "cache/store.hpp"
#include "host/acquire/acquire.hpp"
#include "host/manifest/repository.hpp"
#include "host/offline/bundle_list.hpp"
#include "host/offline/provenance.hpp"

namespace enginehost::offline {

struct ImportRequest {
  std::filesystem::path file;  // of BundleReader::open
  // See ProvenanceRequest.
  bool unsigned_allowed = true;
  const manifest::Trust* trust = nullptr;
  ProvenanceRequest::Origin origin;
  ProvenanceRequest::Unsigned refuse_unsigned;
  // Everybody may read what is installed, whatever the umask: for a layer that others use.
  bool readable_by_all = false;
  std::uint64_t unpacked_limit = std::uint64_t{64} << 30;  // of one component
  // Asked once a build that is not there yet and that a license covers.
  std::function<Result<void>(const acquire::Question&)> consent;
  // Other caches of this machine that are only read: what the bundle leaves out may be copied from them.
  std::vector<cache::Store> also_here;
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;  // of bytes after decompression
  std::optional<CancelToken> cancel;
  std::int64_t now = 0;  // seconds since 1970
};

struct ImportedBuild {
  cache::Installed installed;
  bool was_there = false;
  bool from_repository = false, files_named_by_manifest = false;  // of VerifiedBuild
  std::vector<std::string> signed_by;                             // the same
};

struct Imported {
  std::vector<ImportedBuild> builds;
  std::vector<std::string> warnings;
};

// One pass: the list, the documents, then files in the order of their digests. Every byte is checked against
// the list, which is checked against the manifests (vouch()), and nothing becomes visible before the last
// byte was right. Then build after build is published as an installation is; one that is there already is
// left alone. The repositories' documents are kept in <layer>/repositories/bundle-…. EH-F40, F42, F43, M04:
// the bundle; EH-F44 ("missing", "count", "base"): files that an earlier bundle brings are not here; EH-P10,
// EH-F15 to F18 as installing. Any number of processes at once.
Result<Imported> import_bundle(const cache::Store& store, const ImportRequest& request);

}  // namespace enginehost::offline
