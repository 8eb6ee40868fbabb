// Installs the builds of a bundle.
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "cache/record_names.hpp"
#include "cache/store.hpp"
#include "host/acquire/acquire.hpp"
#include "host/manifest/repository.hpp"
#include "host/offline/bundle_list.hpp"
#include "host/offline/provenance.hpp"

namespace enginehost::offline {

struct ImportRequest : ProvenanceRules {
  std::filesystem::path file;               // as for BundleReader::open
  std::string own_repository;               // the location of EngineHost's own repository; or empty
  std::optional<cache::RecordNames> names;  // of the builds of this machine; unset: of the store's builds
  // Returns EH-M14 for a build that must not be installed. `by_bundle`: the blocks in the bundle's own
  // indexes. Unset: blocks are not looked at.
  std::function<std::optional<Diagnosis>(const VerifiedBuild& build,
                                         const std::vector<manifest::Blocked>& by_bundle)>
      blocked;
  // Makes installed files readable by everybody, whatever the umask: for a layer that other users share.
  bool readable_by_all = false;
  std::uint64_t unpacked_limit = std::uint64_t{64} << 30;  // per component
  // Called once for each build that is not installed yet and has a license.
  std::function<Result<void>(const acquire::Question&)> consent;
  // Other read-only caches of this machine: files that the bundle leaves out may be copied from them.
  std::vector<cache::Store> also_here;
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;  // bytes after decompression
  std::optional<CancelToken> cancel;
};

struct ImportedBuild {
  cache::Installed installed;
  bool was_there = false;
  bool from_repository = false, files_named_by_manifest = false;  // see VerifiedBuild
  std::vector<std::string> signed_by;                             // see VerifiedBuild
};

struct Imported {
  std::vector<ImportedBuild> builds;
  std::vector<std::string> warnings;
};

// Reads the bundle in one pass: the list, the documents, then files in the order of their digests. Every byte
// is checked against the list, and the list against the manifests (verify_provenance()). Nothing becomes
// visible before the last byte proved right. Then the builds are published one by one like installations; a
// build that is already installed is left alone. The repositories' documents are kept in
// <layer>/repositories/bundle-…. Errors: EH-M14: one of the builds is blocked; none is installed then.
// EH-F40, EH-F42, EH-F43, EH-M04: the bundle. EH-F44 ("missing", "count", "base"): files of an earlier bundle
// are missing here. EH-P10, EH-F15 to EH-F18 as for installing. Any number of processes at once.
Result<Imported> import_bundle(const cache::Store& store, const ImportRequest& request);

}  // namespace enginehost::offline
