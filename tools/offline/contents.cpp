#include "tools/offline/contents.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <tuple>

#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "host/acquire/description.hpp"
#include "host/catalog/repositories.hpp"
#include "host/consent/consent.hpp"
#include "host/explain/explain.hpp"
#include "host/manifest/trust/signed_repository.hpp"
#include "host/settings/policy.hpp"

namespace enginehost::offline {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t largest_license_text = 1u << 20;

struct Described {
  std::shared_ptr<const manifest::Build> build;
  std::string document;  // digest
};

Diagnosis unusable_record(const cache::Installed& installed, std::string_view problem) {
  return diagnose(Code::file_damaged)
      .with(Key::build, installed.build)
      .with(Key::file, path_text(installed.layer / "refs"))
      .with(Key::problem, problem);
}

// Reduces paths to their last part, because the location of a user's files is private.
Json without_paths(const Json& manifest) {
  if (manifest.is_array()) {
    Json list = Json::array();
    for (const Json& element : manifest.as_array()) list.push(without_paths(element));
    return list;
  }
  if (!manifest.is_object()) return manifest;
  Json object = Json::object();
  for (const auto& [name, value] : manifest.as_object()) {
    const bool local = name == "file" && path_of(value.as_string()).is_absolute();
    object.set(name, local ? Json(path_text(path_of(value.as_string()).filename())) : without_paths(value));
  }
  return object;
}

// A configured repository's documents, byte for byte as they were served.
struct RepositoryCopy {
  std::string name;                              // for people: a URL, or the name in a folder's index
  std::map<std::string, std::string> documents;  // path below the repository -> bytes; includes signatures
  manifest::RepositoryContent content;
};

// Returns the path below the repository in the form of its documents, or empty.
std::string path_below(const std::string& location, const std::string& repository) {
  const bool url = settings::is_url(repository);
  const std::string prefix = url ? repository : generic_text(path_of(repository));
  const std::string whole = url ? location : generic_text(path_of(location));
  const std::size_t slash = prefix.ends_with('/') ? 0 : 1;
  if (!whole.starts_with(prefix) || (slash == 1 && whole.substr(prefix.size(), 1) != "/")) return {};
  return whole.substr(prefix.size() + slash);
}

// A folder's path may identify a person and is not passed on.
std::string public_name(const settings::Repository& repository, const manifest::Index& index) {
  if (settings::is_url(repository.location)) return repository.location;
  if (!index.name.empty()) return index.name;
  return path_text(path_of(repository.location).filename());
}

using DocumentObserver = std::function<void(const std::string& location, const std::string& bytes)>;

// Passes every document that another reader reads to an observer. The location is empty for a document that
// was kept by digest.
class ObservedReader : public manifest::DocumentReader {
 public:
  ObservedReader(manifest::DocumentReader& reader, const DocumentObserver& observer)
      : reader_(reader), observer_(observer) {}

  void expect(const std::vector<manifest::Expected>& documents) override { reader_.expect(documents); }
  Result<std::string> read(const std::string& location, std::uint64_t limit) override {
    auto bytes = reader_.read(location, limit);
    if (bytes) observer_(location, *bytes);
    return bytes;
  }
  std::optional<std::string> kept(const std::string& sha256) override {
    auto bytes = reader_.kept(sha256);
    if (bytes) observer_({}, *bytes);
    return bytes;
  }
  void keep(const std::string& sha256, const std::string& bytes) override { reader_.keep(sha256, bytes); }

 private:
  manifest::DocumentReader& reader_;
  const DocumentObserver& observer_;
};

constexpr std::int64_t most_roots = 100;  // the same limit as when roots are followed

std::optional<manifest::Root> root_at(manifest::RepositoryFiles& files, const std::string& path) {
  const auto bytes = files.find(path);
  if (!bytes || !*bytes) return std::nullopt;
  const auto document = parse_json(**bytes, files.name_of(path));
  if (!document) return std::nullopt;
  auto root = manifest::read_root(*document, files.name_of(path));
  return root ? std::optional(std::move(*root)) : std::nullopt;
}

void read_signatures(manifest::RepositoryFiles& files, const std::string& path,
                     const std::set<std::string>& key_ids) {
  for (const std::string& id : key_ids) static_cast<void>(files.find(path + "." + id + ".minisig"));
}

void add_keys(const manifest::Root& root, manifest::Role role, std::set<std::string>& key_ids) {
  for (const manifest::PublicKey& key : root.keys_for(role)) key_ids.insert(key.id);
}

// Reads the signatures and roots that a copy of a signed repository needs.
//
// A machine that knows the repository skips some files: signatures of a root it accepted long ago, index
// signatures beyond the threshold, and earlier roots. A machine that receives a copy may trust another key or
// an older root. This function therefore reads all of them, so that the reader of `files` sees them. It skips
// missing files and checks nothing.
void read_all_signatures(manifest::RepositoryFiles& files) {
  std::optional<manifest::Root> root = root_at(files, "root.json");
  if (!root) return;
  std::set<std::string> of_index;
  add_keys(*root, manifest::Role::index, of_index);
  read_signatures(files, "index.json", of_index);
  // A root is signed by its own keys and by those of the previous root.
  for (std::int64_t steps = 0; root && steps < most_roots; ++steps) {
    const std::string path = "roots/" + std::to_string(root->version) + ".json";
    std::optional<manifest::Root> before =
        root_at(files, "roots/" + std::to_string(root->version - 1) + ".json");
    std::set<std::string> of_root;
    add_keys(*root, manifest::Role::root, of_root);
    if (before) add_keys(*before, manifest::Role::root, of_root);
    if (steps == 0) read_signatures(files, "root.json", of_root);
    static_cast<void>(files.find(path));
    read_signatures(files, path, of_root);
    if (before && before->version >= root->version) return;
    root = std::move(before);
  }
}

// Returns the repositories of the settings, and the signed ones that those builds came from.
std::vector<settings::Repository> repositories_of(const open::OpenContext& context,
                                                  const std::vector<std::string>& builds) {
  const settings::Settings& settings = context.settings();
  std::vector<settings::Repository> all = settings.repositories;
  for (const std::string& id : builds) {
    const auto record = context.store().record_of(id);
    if (!record || !*record || (*record)->signers.empty()) continue;
    const std::string& origin = (*record)->origin;
    if (!settings::lists(settings, origin) &&
        settings::lies_in(origin, settings.policy.allowed_repositories) &&
        std::ranges::find(all, origin, &settings::Repository::location) == all.end())
      all.push_back({origin, false, "the record of " + id});
  }
  return all;
}

// Copies the repositories that can be read; installed builds have their own records. `unread`: the reasons of
// the others, by location.
std::vector<RepositoryCopy> copy_repositories(const open::OpenContext& context,
                                              const std::vector<std::string>& builds,
                                              std::map<std::string, Diagnosis>& unread) {
  std::vector<RepositoryCopy> copies;
  for (const settings::Repository& repository : repositories_of(context, builds)) {
    RepositoryCopy copy;
    std::map<std::string, std::string> by_digest;
    const transfer::TransferOptions transfer = context.transfer_options();
    const DocumentObserver observe = [&](const std::string& location, const std::string& bytes) {
      if (const std::string path = path_below(location, repository.location); !path.empty())
        copy.documents.insert_or_assign(path, bytes);
      by_digest.insert_or_assign(sha256_hex(bytes), bytes);
    };
    const auto read_whole = [&](manifest::DocumentReader& reader,
                                const manifest::Trust* proof) -> Result<manifest::RepositoryContent> {
      ObservedReader observed(reader, observe);
      TRY_ASSIGN(manifest::RepositoryContent whole,
                 manifest::load_repository(repository.location, observed, open::OpenContext::now(), proof));
      manifest::RepositoryFiles files(repository.location, observed);
      read_all_signatures(files);
      return whole;
    };
    auto content = catalog::with_reader({.settings = context.settings(),
                                         .store = context.store(),
                                         .transfer = transfer,
                                         .now = open::OpenContext::now(),
                                         .cancel = context.cancel()},
                                        repository, read_whole);
    if (!content) {
      unread.emplace(repository.location, std::move(content).error());
      continue;
    }
    // Documents found by digest were not read under their path, and a URL's path is written differently.
    for (const manifest::IndexEntry& entry : content->index.manifests)
      if (const auto found = by_digest.find(entry.sha256); found != by_digest.end())
        copy.documents.insert_or_assign(entry.path, found->second);
    copy.name = public_name(repository, content->index);
    copy.content = std::move(*content);
    copies.push_back(std::move(copy));
  }
  return copies;
}

class ContentsBuilder {
 public:
  ContentsBuilder(const open::OpenContext& context, const Selection& selection)
      : context_(context),
        selection_(selection),
        copies_(copy_repositories(context, selection.builds, unread_)) {}

  Result<Contents> run() {
    std::set<std::string> ids(selection_.builds.begin(), selection_.builds.end());
    for (const std::string& id : ids) TRY(add(id));
    add_license_texts();
    finish();
    return std::move(contents_);
  }

 private:
  Result<void> add(const std::string& id) {
    TRY_ASSIGN(const auto installed, context_.store().record_of(id));
    if (!installed) return fail(context_.store().not_installed(id));
    if (!installed->in_place.empty())
      return fail(diagnose(Code::installation_not_exportable)
                      .with(Key::build, id)
                      .with(Key::path, installed->in_place));
    TRY_ASSIGN(const Described described, describe(*installed));
    const manifest::Build& build = *described.build;
    TRY(add_licenses(build));
    const auto components = build.all_components();
    if (components.size() != installed->trees.size())
      return fail(unusable_record(*installed, "its record has another number of trees than of components"));
    BundledBuild bundled{build.id, build.engine, build.version,      build.flavor,
                         build.os, build.arch,   described.document, {}};
    for (std::size_t i = 0; i < components.size(); ++i) {
      TRY_ASSIGN(const cache::TreeList tree, context_.store().list_of(*installed, installed->trees[i]));
      const std::string text = tree.text();
      contents_.documents.emplace(installed->trees[i], text);
      bundled.trees.emplace_back(components[i]->id, installed->trees[i]);
      const fs::path folder = cache::Store::tree_folder(installed->layer, installed->trees[i]);
      for (const cache::TreeEntry& entry : tree.entries) {
        if (entry.kind == cache::TreeEntry::Kind::link) continue;
        sizes_.emplace(entry.identity, entry.size);
        contents_.files.emplace(entry.identity, folder / path_of(entry.path));
      }
    }
    contents_.list.builds.push_back(std::move(bundled));
    contents_.names.push_back(installed->build);
    builds_.push_back(described.build);
    return {};
  }

  // Returns the build as the repository offers it that has exactly these bytes, with its document.
  std::optional<Described> described_by_repository(const cache::Installed& installed, bool is_signed) {
    for (std::size_t at = 0; at < copies_.size(); ++at)
      for (const auto& manifest : copies_[at].content.manifests)
        for (const auto& build : manifest->builds) {
          if (build->engine != installed.engine || build->id != installed.published_id() ||
              build->artifacts_digest() != installed.artifacts_digest ||
              (is_signed && manifest->signed_by.empty()))
            continue;
          for (const auto& [path, bytes] : copies_[at].documents) {
            if (!generic_text(path_of(manifest->name)).ends_with("/" + path) || path == "index.json")
              continue;
            // A signed document cannot be passed on in part, and a query may be somebody's key.
            if (without_passwords(bytes) != bytes) {
              if (is_signed) names_a_query_.insert(installed.build);
              continue;
            }
            used_[at].insert(path);
            const std::string digest = sha256_hex(bytes);
            contents_.documents.emplace(digest, bytes);
            return Described{std::shared_ptr<const manifest::Build>(manifest, build.get()), digest};
          }
        }
    return std::nullopt;
  }

  // Describes the build by a signed repository, else by any, else by the build's own record.
  Result<Described> describe(const cache::Installed& installed) {
    if (auto with_signature = described_by_repository(installed, true)) return std::move(*with_signature);
    if (!installed.signers.empty()) warn_of_signature(installed);
    if (auto described = described_by_repository(installed, false)) return std::move(*described);
    const std::string name = "the record of the installed " + installed.build;
    TRY_ASSIGN(const Json document, acquire::published_manifest(installed));
    const std::string bytes = without_paths(document).dump(1) + "\n";
    TRY_ASSIGN(const auto manifest, manifest::read_manifest(document, "", name));
    for (const auto& build : manifest->builds) {
      if (build->id != installed.published_id()) continue;
      const std::string digest = sha256_hex(bytes);
      contents_.documents.emplace(digest, bytes);
      return Described{std::shared_ptr<const manifest::Build>(manifest, build.get()), digest};
    }
    return fail(unusable_record(installed, "its record does not describe it"));
  }

  // The build was installed with a signature, and the bundle has none for it.
  void warn_of_signature(const cache::Installed& installed) {
    const std::string origin = installed.origin.empty() ? "its repository" : installed.origin;
    const auto why = unread_.find(installed.origin);
    std::string reason = origin + " no longer offers these bytes with a signature";
    if (why != unread_.end())
      reason = origin + " cannot be read (" + explain::one_line(why->second) + ")";
    else if (!settings::lies_in(installed.origin, context_.settings().policy.allowed_repositories))
      reason = "the policy of this machine does not allow " + origin;
    else if (names_a_query_.contains(installed.build))
      reason = "the signed manifest names a URL with a password or a query, which no bundle passes on";
    contents_.warnings.push_back("the bundle carries no signature of " + installed.build +
                                 ", so that another machine cannot check who published it: " + reason);
  }

  Result<void> add_licenses(const manifest::Build& build) {
    const auto owner = build.manifest.lock();
    for (const manifest::Component* component : build.all_components()) {
      if (component->license.empty() || !owner) continue;
      const auto found = owner->licenses.find(component->license);
      if (found == owner->licenses.end()) continue;
      const manifest::License& license = found->second;
      // Without a statement, redistribution is assumed to be allowed only where no acceptance is needed.
      const std::string may = !license.redistribute.empty() ? license.redistribute
                              : license.explicit_consent    ? "ask"
                                                            : "yes";
      const bool ordered = selection_.licenses_by_order.contains(license.id);
      if (may != "yes" && !ordered)
        return fail(
            diagnose(Code::redistribution_not_allowed)
                .with(Key::build, build.id)
                .with(Key::component, component->id)
                .with(Key::license, license.id)
                .with(Key::redistribute, may, license.redistribute.empty() ? "not stated" : "manifest")
                .with(Key::url, license.url));
      BundledLicense& listed = licenses_[license.id + "\n" + license.sha256];
      listed.id = license.id;
      listed.url = without_passwords(license.url);
      listed.sha256 = license.sha256;
      listed.redistribute = may;
      listed.by_order = may != "yes";
      if (std::find(listed.components.begin(), listed.components.end(), component->id) ==
          listed.components.end())
        listed.components.push_back(component->id);
    }
    return {};
  }

  // Finds license texts by digest: the store keeps the text that a user was shown before agreeing, and most
  // components contain theirs.
  void add_license_texts() {
    for (auto& [key, license] : licenses_) {
      std::optional<std::string> text = consent::kept_text(context_.store(), license.sha256);
      if (const auto found = contents_.files.find(license.sha256); !text && found != contents_.files.end()) {
        auto carried = read_file(found->second, largest_license_text);
        if (carried && sha256_hex(*carried) == license.sha256) text = std::move(*carried);
      }
      if (!text || text->size() > largest_license_text) continue;
      license.text = true;
      contents_.documents.emplace(license.sha256, std::move(*text));
    }
  }

  void finish() {
    BundleList& list = contents_.list;
    std::ranges::sort(list.builds, {},
                      [](const BundledBuild& build) { return std::tie(build.id, build.engine); });
    for (const auto& [at, manifests] : used_) {
      const RepositoryCopy& copy = copies_[at];
      BundledRepository repository{copy.name, {}};
      for (const auto& document : copy.documents) {
        const std::string& path = document.first;
        const bool other_manifest =
            std::any_of(copy.content.index.manifests.begin(), copy.content.index.manifests.end(),
                        [&](const manifest::IndexEntry& entry) { return entry.path == path; }) &&
            !manifests.contains(path);
        if (other_manifest || !is_document_path(path)) continue;
        const std::string digest = sha256_hex(document.second);
        repository.documents.push_back({path, digest});
        contents_.documents.emplace(digest, document.second);
      }
      list.repositories.push_back(std::move(repository));
    }
    for (auto& [key, license] : licenses_) {
      std::sort(license.components.begin(), license.components.end());
      list.licenses.push_back(std::move(license));
    }
    list.base = selection_.base;
    contents_.spdx = spdx_of(builds_);
    list.spdx = {sha256_hex(contents_.spdx), contents_.spdx.size()};
    for (const auto& [digest, bytes] : contents_.documents) list.documents.push_back({digest, bytes.size()});
    for (const auto& [digest, size] : sizes_)
      (selection_.held.contains(digest) ? list.needs : list.files).push_back({digest, size});
  }

  const open::OpenContext& context_;
  const Selection& selection_;
  std::map<std::string, Diagnosis> unread_;  // repositories that could not be read
  std::set<std::string> names_a_query_;      // installed builds whose signed manifest stays here
  std::vector<RepositoryCopy> copies_;
  std::map<std::size_t, std::set<std::string>> used_;  // copies, and which of their manifests
  std::vector<std::shared_ptr<const manifest::Build>> builds_;
  std::map<std::string, BundledLicense> licenses_;
  std::map<std::string, std::uint64_t> sizes_;  // of files, by digest
  Contents contents_;
};

}  // namespace

Result<Contents> gather(const open::OpenContext& context, const Selection& selection) {
  return ContentsBuilder(context, selection).run();
}

}  // namespace enginehost::offline
