#include "host/offline/provenance.hpp"

#include <algorithm>

#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "host/manifest/repository.hpp"

namespace enginehost::offline {
namespace {

// Serves a bundled repository's documents.
class DocumentsReader : public manifest::DocumentReader {
 public:
  DocumentsReader(std::string root, const BundledRepository& repository,
                  const std::map<std::string, std::string>& documents)
      : root_(std::move(root)), repository_(repository), documents_(documents) {}

  Result<std::string> read(const std::string& location, std::uint64_t limit) override {
    for (const RepositoryDocument& document : repository_.documents)
      if (location == manifest::below(root_, document.path)) {
        const std::string& bytes = documents_.at(document.sha256);
        if (bytes.size() <= limit) return bytes;
      }
    return fail(diagnose_errno(Code::file_not_readable, ENOENT).with(Key::file, location));
  }

 private:
  std::string root_;
  const BundledRepository& repository_;
  const std::map<std::string, std::string>& documents_;
};

class ProvenanceCheck {
 public:
  explicit ProvenanceCheck(const ProvenanceRequest& request) : request_(request) {}

  Result<Provenance> run() {
    TRY(read_trees());
    for (const BundledRepository& repository : request_.list.repositories) TRY(read(repository));
    for (const BundledBuild& bundled : request_.list.builds) {
      TRY_ASSIGN(VerifiedBuild build, verify_build(bundled));
      result_.builds.push_back(std::move(build));
    }
    return std::move(result_);
  }

 private:
  static tl::unexpected<Diagnosis> contradiction(const BundledBuild& build, std::string_view problem) {
    return fail(diagnose(Code::bundle_damaged).with(Key::build, build.id).with(Key::problem, problem));
  }

  Result<void> read_trees() {
    for (const BundledBuild& build : request_.list.builds)
      for (const auto& [component, tree] : build.trees) {
        if (result_.trees.contains(tree)) continue;
        auto list = cache::read_tree_list(request_.documents.at(tree), tree);
        if (!list)
          return fail(std::move(diagnose(Code::bundle_damaged)
                                    .with(Key::build, build.id)
                                    .with(Key::component, component)
                                    .with(Key::problem, "the list of its files is not valid: " +
                                                            std::string(list.error().value(Key::problem)))));
        result_.trees.emplace(tree, std::move(*list));
      }
    return {};
  }

  Result<void> read(const BundledRepository& repository) {
    std::string index;
    for (const RepositoryDocument& document : repository.documents)
      if (document.path == "index.json") index = document.sha256;
    const std::string root = path_text(request_.kept_at(index));
    DocumentsReader reader(root, repository, request_.documents);
    std::optional<manifest::Trust> trust;
    if (request_.rules.trust != nullptr) {
      trust.emplace(*request_.rules.trust);
      // A copy without signatures is refused later, naming the build that comes from it (EH-M40), unless the
      // repository was seen signed.
      const bool has_root =
          std::any_of(repository.documents.begin(), repository.documents.end(),
                      [](const RepositoryDocument& document) { return document.path == "root.json"; });
      trust->required = !request_.rules.unsigned_allowed && has_root;
      // A bundle's documents are older than a server's, and a person chose to import them, whatever their
      // date.
      trust->offline = true;
      trust->max_staleness_seconds.reset();
      trust->known_as = repository.name;
    }
    TRY_ASSIGN(const manifest::RepositoryContent content,
               manifest::load_repository(root, reader, request_.rules.now, trust ? &*trust : nullptr));
    result_.warnings.insert(result_.warnings.end(), content.warnings.begin(), content.warnings.end());
    for (const manifest::Blocked& one : content.index.blocked)
      result_.blocked.push_back({one.sha256, one.reason, repository.name, true, {}, one.engines});
    for (const auto& manifest : content.manifests)
      for (const RepositoryDocument& document : repository.documents)
        if (manifest->name == manifest::below(root, document.path)) {
          Offered& offered = offered_[document.sha256];
          if (offered.manifest == nullptr || offered.signed_by.empty())
            offered = {manifest, repository.name, content.signed_by};
        }
    return {};
  }

  Result<VerifiedBuild> verify_build(const BundledBuild& bundled) {
    VerifiedBuild verified;
    std::shared_ptr<const manifest::Manifest> manifest;
    if (const auto offered = offered_.find(bundled.manifest); offered != offered_.end()) {
      manifest = offered->second.manifest;
      verified.from_repository = true;
      verified.repository = offered->second.repository;
      verified.signed_by = offered->second.signed_by;
    } else {
      const std::string name = "the bundle's manifest of " + bundled.id;
      TRY_ASSIGN(const Json document, parse_json(request_.documents.at(bundled.manifest), name));
      TRY_ASSIGN(manifest, manifest::read_manifest(document, path_text(request_.kept_at("")), name));
    }
    for (const auto& build : manifest->builds)
      if (build->id == bundled.id && build->engine == bundled.engine)
        verified.build = {manifest, build.get()};
    if (!verified.build) return contradiction(bundled, "its manifest does not list it");
    TRY(match_trees(bundled, verified));
    verified.own = request_.rules.own_manifests.contains(bundled.manifest);
    if (request_.rules.origin) TRY(request_.rules.origin(bundled.id, verified.repository, doubt(verified)));
    if (request_.rules.unsigned_allowed || (verified.own && verified.files_named_by_manifest))
      return verified;
    if (!verified.from_repository)
      return fail(unsigned_build(bundled.id, "", "the bundle has no repository's manifest of it"));
    if (request_.rules.trust != nullptr && verified.signed_by.empty())
      return fail(unsigned_build(bundled.id, offered_.at(bundled.manifest).repository,
                                 "the manifest of it is not signed"));
    if (!verified.files_named_by_manifest)
      return fail(only_the_bundles_word(bundled.id, "its manifest does not say which files it has"));
    return verified;
  }

  Diagnosis only_the_bundles_word(const std::string& build, std::string_view problem) const {
    Diagnosis refused = std::move(
        diagnose(Code::bundle_files_not_listed).with(Key::build, build).with(Key::problem, problem));
    if (request_.rules.refuse_unsigned) {
      Diagnosis demand = request_.rules.refuse_unsigned(build, "", problem);
      if (demand.code == refused.code) return demand;
      refused.with(Key::policy, demand.value(Key::policy)).with(Key::policy_file, demand.value(Key::file));
    }
    return refused;
  }

  Diagnosis unsigned_build(const std::string& build, const std::string& repository,
                           std::string_view problem) const {
    Diagnosis refused = request_.rules.refuse_unsigned
                            ? request_.rules.refuse_unsigned(build, repository, problem)
                            : only_the_bundles_word(build, problem);
    if (!repository.empty()) refused.with(Key::repository, repository);
    return refused;
  }

  // Returns why only the bundle states that these files come from that repository; empty: its signers state
  // it.
  static std::string doubt(const VerifiedBuild& verified) {
    if (verified.signed_by.empty() && !verified.own) return "no key that is trusted here signed its manifest";
    if (!verified.files_named_by_manifest) return "its manifest does not say which files it has";
    return {};
  }

  Result<void> match_trees(const BundledBuild& bundled, VerifiedBuild& verified) const {
    const auto components = verified.build->all_components();
    if (components.size() != bundled.trees.size() ||
        components.size() != verified.build->components.size() + 1)
      return contradiction(bundled, "it has other components than its manifest says");
    verified.files_named_by_manifest = true;
    for (const manifest::Component* component : components) {
      const auto tree = std::find_if(bundled.trees.begin(), bundled.trees.end(),
                                     [&](const auto& known) { return known.first == component->id; });
      if (tree == bundled.trees.end())
        return contradiction(bundled, "its component " + component->id + " is missing");
      switch (named_by(*component, tree->second)) {
        case Named::other:
          return contradiction(bundled, "the files of its component " + component->id +
                                            " are not those that its manifest names");
        case Named::no:
          verified.files_named_by_manifest = false;
          break;
        case Named::yes:
          break;
      }
      verified.trees.push_back(tree->second);
    }
    if (verified.build->digest.empty()) return {};
    if (verified.build->digest != cache::digest_of_trees(verified.trees))
      return contradiction(bundled, "its files are not those that its manifest names");
    verified.files_named_by_manifest = true;
    return {};
  }

  // Returns whether a component's manifest entry names these files: by the tree's id, or by its digest for a
  // file that is no archive.
  enum class Named { yes, no, other };
  Named named_by(const manifest::Component& component, const std::string& tree) const {
    bool some_do_not_say = component.artifacts.empty();
    for (const manifest::Artifact& artifact : component.artifacts) {
      if (artifact.tree == tree) return Named::yes;
      if (artifact.archive == "none" && !artifact.sha256.empty()) {
        const auto& entries = result_.trees.at(tree).entries;
        if (entries.size() == 1 && entries[0].path == artifact.path && entries[0].identity == artifact.sha256)
          return Named::yes;
        continue;
      }
      some_do_not_say = some_do_not_say || artifact.tree.empty();
    }
    return some_do_not_say ? Named::no : Named::other;
  }

  const ProvenanceRequest& request_;
  struct Offered {
    std::shared_ptr<const manifest::Manifest> manifest;
    std::string repository;
    std::vector<std::string> signed_by;
  };
  std::map<std::string, Offered> offered_;  // by the document's digest
  Provenance result_;
};

}  // namespace

Result<Provenance> verify_provenance(const ProvenanceRequest& request) {
  return ProvenanceCheck(request).run();
}

}  // namespace enginehost::offline
