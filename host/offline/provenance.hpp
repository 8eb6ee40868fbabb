// May a bundle's builds be believed? The one place where that is decided.
#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cache/tree_list.hpp"
#include "host/manifest/catalog.hpp"
#include "host/manifest/repository.hpp"
#include "host/offline/bundle_list.hpp"

namespace enginehost::offline {

// One build of a bundle, described by its manifest and not by the bundle.
struct VerifiedBuild {
  std::shared_ptr<const manifest::Build> build;
  std::vector<std::string> trees;  // in the order of Build::all_components()
  // The manifest comes from a repository's documents, which were checked as that repository's are.
  bool from_repository = false;
  // The keys that signed that repository's index, where signatures were looked at; empty: nobody's that
  // counts here.
  std::vector<std::string> signed_by;
  // The manifest itself says which files these are; else the bundle is taken at its word, as a repository
  // that is named on the command line is.
  bool files_named_by_manifest = false;
};

struct ProvenanceRequest {
  const BundleList& list;
  const std::map<std::string, std::string>& documents;  // digest -> bytes, all of list.documents
  // Where the documents of the repository with that index digest will be kept: its file sources start there.
  std::function<std::filesystem::path(const std::string& index_digest)> kept_at;
  // False: policy demands that every file be named by a signed repository's manifest.
  bool unsigned_allowed = true;
  // Whose signatures count for the copies of repositories; null: signatures are not looked at (tests of the
  // format).
  const manifest::Trust* trust = nullptr;
  // Asked of every build, with the repository that it comes from (empty: the bundle brings no manifest of
  // one) and why that is only the bundle's word (empty: it is not); not set: builds may come from anywhere.
  using Origin = std::function<Result<void>(const std::string& build, const std::string& repository,
                                            const std::string& doubt)>;
  Origin origin;
  std::int64_t now = 0;
  // Whose demand is not met: the failure for what nobody signed, with "file" and "policy", the rule, which
  // EH-M40 names too for what is signed and leaves its files open. Not set: nobody knows, and it is EH-M40.
  using Unsigned = std::function<Diagnosis(const std::string& build, const std::string& repository,
                                           std::string_view problem)>;
  Unsigned refuse_unsigned;
};

struct Provenance {
  std::vector<VerifiedBuild> builds;             // in the order of the list
  std::map<std::string, cache::TreeList> trees;  // every tree of every build
  std::vector<std::string> warnings;
};

// The repository's documents are read by manifest::load_repository, so whatever it demands of a repository it
// demands of the copy. EH-F40 ("problem", "build"): the bundle contradicts a manifest; EH-M40 ("build",
// "problem", "repository"): no signed manifest says what the files are, and policy wants one; and what
// reading manifests, indexes and tree lists, and `origin` and `refuse_unsigned`, fail with.
Result<Provenance> verify_provenance(const ProvenanceRequest& request);

}  // namespace enginehost::offline
