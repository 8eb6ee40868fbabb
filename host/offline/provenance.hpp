// Decides whether a bundle's builds can be trusted. No other code decides this.
#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cache/tree_list.hpp"
#include "host/manifest/catalog.hpp"
#include "host/manifest/repository.hpp"
#include "host/offline/bundle_list.hpp"

namespace enginehost::offline {

// One build of a bundle, described by its manifest rather than by the bundle.
struct VerifiedBuild {
  std::shared_ptr<const manifest::Build> build;
  std::vector<std::string> trees;  // in the order of Build::all_components()
  // The manifest comes from a repository's documents, which were checked like that repository's own.
  bool from_repository = false;
  std::string repository;  // that one; or empty
  // The keys that signed that repository's index, where signatures were checked; empty: no key that counts
  // here.
  std::vector<std::string> signed_by;
  // The manifest is one of EngineHost's own repository on this machine, which is trusted by its place.
  bool own = false;
  // The manifest names these files by digest. If false, the bundle's list is trusted, as a repository named
  // on the command line is.
  bool files_named_by_manifest = false;
};

// The rules for proofs on this machine.
struct ProvenanceRules {
  // False: policy requires that a signed repository's manifest names every file.
  bool unsigned_allowed = true;
  std::set<std::string> own_manifests;  // digests of the manifests of EngineHost's own repository here
  // The keys that count for the copies of repositories; null: signatures are not checked (tests of the
  // format).
  const manifest::Trust* trust = nullptr;
  // Called for every build, with the repository that it comes from (empty: the bundle has no repository's
  // manifest for it) and the reason why that origin is unproven (empty: it is proven). Unset: builds may come
  // from anywhere.
  std::function<Result<void>(const std::string& build, const std::string& repository,
                             const std::string& doubt)>
      origin;
  std::int64_t now = 0;  // seconds since 1970
  // Makes the failure for unsigned builds: EH-P01 with "file" and the rule as "policy", or EH-M40. EH-M40
  // also names that rule for signed builds whose files are not named. Unset: the failure is EH-M40 without a
  // rule.
  std::function<Diagnosis(const std::string& build, const std::string& repository, std::string_view problem)>
      refuse_unsigned;
};

struct ProvenanceRequest {
  const ProvenanceRules& rules;
  const BundleList& list;
  const std::map<std::string, std::string>& documents;  // digest -> bytes, all of list.documents
  // Returns where the documents of the repository with that index digest will be kept, because its relative
  // file sources start there.
  std::function<std::filesystem::path(const std::string& index_digest)> kept_at;
};

struct Provenance {
  std::vector<VerifiedBuild> builds;             // in the order of the list
  std::map<std::string, cache::TreeList> trees;  // every tree of every build
  std::vector<manifest::Blocked> blocked;        // by the indexes of the bundle
  std::vector<std::string> warnings;
};

// Reads the repository's documents with manifest::load_repository(), so a copy must meet every requirement of
// a repository. Errors: EH-F40 ("problem", "build"): the bundle contradicts a manifest. EH-M40 ("build",
// "problem", "repository"): no signed manifest names the files although policy requires it. Those of reading
// manifests, indexes and tree lists, of `origin` and of `refuse_unsigned`.
Result<Provenance> verify_provenance(const ProvenanceRequest& request);

}  // namespace enginehost::offline
