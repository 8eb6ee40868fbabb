#include "host/offline/import_bundle.hpp"

#include <map>
#include <set>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "host/consent/consent.hpp"
#include "host/offline/bundle_reader.hpp"
#include "host/offline/provenance.hpp"
#include "host/offline/staged_files.hpp"

namespace enginehost::offline {
namespace {

namespace fs = std::filesystem;

class Importing {
 public:
  Importing(const cache::Store& store, const ImportRequest& request, BundleReader& reader)
      : store_(store), request_(request), reader_(reader) {}

  Result<Imported> run() {
    TRY(read_list());
    TRY(read_documents());
    auto verified = verify_provenance(
        {request_, list_, documents_, [this](const std::string& index) { return kept_at(index); }});
    if (!verified) return fail(std::move(verified.error().with(Key::file, path_text(request_.file))));
    provenance_ = std::move(*verified);
    cache::RecordNames names = request_.names ? *request_.names : cache::RecordNames(store_.list());
    for (VerifiedBuild& one : provenance_.builds)
      one.build = manifest::called(one.build, names.name_of(one.build->engine, one.build->id));
    imported_.warnings = provenance_.warnings;
    for (const VerifiedBuild& build : provenance_.builds)
      if (request_.blocked)
        if (auto blocked = request_.blocked(build, provenance_.blocked))
          return fail(std::move(blocked->with(Key::file, path_text(request_.file))));
    TRY(keep_license_texts());
    // Held to the end, so that no sweep removes files found to be present.
    TRY_ASSIGN(cache::Stage stage, store_.stage("import-" + list_digest_, waiting()));
    TRY(decide());
    StagedFiles files(store_, stage.folder());
    TRY(plan_files(files));
    TRY(read_files(files));
    TRY(end());
    for (const Blob& blob : list_.needs)
      if (auto had = files.take_from_cache(blob); !had) return fail(lacking(std::move(had).error()));
    TRY(publish_trees(files, stage));
    for (std::size_t i = 0; i < provenance_.builds.size(); ++i) TRY(publish(i));
    TRY(keep_documents());
    return std::move(imported_);
  }

  // Trees without a build that refers to them may be in place.
  bool began_to_publish() const { return !finished_.empty(); }

 private:
  cache::WaitOptions waiting() const {
    cache::WaitOptions wait;
    wait.cancel = request_.cancel;
    return wait;
  }

  fs::path kept_at(const std::string& index) const {
    return store_.root() / "repositories" /
           ("bundle-" + (index.empty() ? list_digest_ : index).substr(0, 32));
  }

  Result<std::string> entry(std::string_view name, std::uint64_t limit) {
    TRY_ASSIGN(const auto found, reader_.next());
    if (!found || found->name != name)
      return fail(std::move(reader_.damaged("an entry is not where the list says")
                                .with(Key::expected, name)
                                .with(Key::found, found ? found->name : "the end")));
    if (found->size > limit) return fail(reader_.damaged("an entry is larger than the list says"));
    return reader_.read_whole();
  }

  Result<void> read_list() {
    TRY_ASSIGN(const std::string text, entry(list_entry, largest_list));
    list_digest_ = sha256_hex(text);
    TRY_ASSIGN(list_, read_bundle_list(text, path_text(request_.file)));
    total_ = list_.size();
    return {};
  }

  Result<std::string> document(const std::string& name, const Blob& blob) {
    TRY_ASSIGN(std::string bytes, entry(name, blob.size));
    if (const std::string actual = sha256_hex(bytes); bytes.size() != blob.size || actual != blob.sha256)
      return fail(std::move(reader_.damaged("an entry's bytes are not those that the list names")
                                .with(Key::expected, blob.sha256)
                                .with(Key::found, actual)));
    TRY(report(bytes.size()));
    return bytes;
  }

  Result<void> read_documents() {
    if (list_.spdx.size > largest_list) return fail(reader_.damaged("an entry is too large"));
    TRY(document(std::string(spdx_entry), list_.spdx).map([](const std::string&) {}));
    for (const Blob& blob : list_.documents) {
      TRY_ASSIGN(std::string bytes, document(std::string(blob_folder) + blob.sha256, blob));
      documents_.emplace(blob.sha256, std::move(bytes));
    }
    return {};
  }

  // Keeps the texts before consent is requested, and for engine-cache licenses later. Keeps only what a
  // manifest names as a license's text, by its digest, so that it cannot be another text.
  Result<void> keep_license_texts() const {
    for (const VerifiedBuild& verified : provenance_.builds) {
      const auto owner = verified.build->manifest.lock();
      for (const manifest::Component* component : verified.build->all_components()) {
        if (!owner) continue;
        const auto license = owner->licenses.find(component->license);
        if (license == owner->licenses.end()) continue;
        const auto text = documents_.find(license->second.sha256);
        if (text != documents_.end())
          TRY(consent::keep_text(store_, text->second).map([](const std::string&) {}));
      }
    }
    return {};
  }

  // Decides which builds are already installed and whether the others may be installed.
  Result<void> decide() {
    std::set<std::string> looked_at;
    for (const VerifiedBuild& verified : provenance_.builds) {
      ImportedBuild build;
      build.from_repository = verified.from_repository;
      build.files_named_by_manifest = verified.files_named_by_manifest;
      build.signed_by = verified.signed_by;
      const auto found = store_.find(verified.build->id, [&](const cache::Installed& one) {
        return one.engine == verified.build->engine;
      });
      if (found && *found && (*found)->digest == cache::digest_of_trees(verified.trees)) {
        build.installed = **found;
        build.was_there = true;
      } else {
        if (found && *found) TRY(check_replacement(verified, **found));
        // A tree that is present is reused only if it is intact: it may have been damaged since another build
        // used it.
        for (const std::string& tree : verified.trees)
          if (looked_at.insert(tree).second) TRY(store_.reject_if_damaged(tree).map([](const auto&) {}));
        TRY(ask(verified));
      }
      imported_.builds.push_back(std::move(build));
    }
    return {};
  }

  static std::string files_by(const VerifiedBuild& verified) {
    const bool proven = verified.own || !verified.signed_by.empty();
    return verified.files_named_by_manifest && proven ? "manifest" : "bundle";
  }

  // Refuses to replace the files of an installed build by others with a weaker proof. Both are of one engine,
  // because another engine's build has another record.
  static Result<void> check_replacement(const VerifiedBuild& verified, const cache::Installed& installed) {
    cache::Installed bundled;
    bundled.files_by = files_by(verified);
    bundled.signers = verified.signed_by;
    if (cache::strength_of_proof(bundled) >= cache::strength_of_proof(installed)) return {};
    return fail(
        diagnose(Code::bundle_files_not_listed)
            .with(Key::build, installed.build)
            .with(Key::installed_from, installed.origin.empty() ? "an unknown repository" : installed.origin)
            .with(Key::problem, "no trusted key signed a manifest that names the bundle's files"));
  }

  Result<void> ask(const VerifiedBuild& verified) const {
    if (!request_.consent) return {};
    acquire::AcquireOptions options;
    options.transfer.offline = true;
    TRY_ASSIGN(acquire::Question question,
               acquire::question_for(*verified.build, store_, options, request_.cancel));
    question.repository = verified.own ? request_.own_repository : verified.repository;
    question.signed_by = verified.signed_by;
    // Nothing is downloaded, so the question is only about licenses.
    question.download = 0;
    question.download_known = true;
    question.sources = {path_text(request_.file)};
    if (question.licenses.empty()) return {};
    return request_.consent(question);
  }

  // Decides which files of the bundle are wanted, and checks that all wanted files are available.
  Result<void> plan_files(StagedFiles& files) {
    std::map<std::string, std::uint64_t> wanted;
    std::uint64_t largest = 0, sum = 0;
    for (std::size_t i = 0; i < provenance_.builds.size(); ++i) {
      if (imported_.builds[i].was_there) continue;
      for (const std::string& tree : provenance_.builds[i].trees) {
        if (store_.has_tree(tree)) continue;  // already present
        if (!wanted_trees_.insert(tree).second) continue;
        const cache::TreeList& list = provenance_.trees.at(tree);
        if (list.size() > request_.unpacked_limit)
          return fail(diagnose(Code::archive_entry_refused)
                          .with(Key::entry, tree)
                          .with(Key::problem, "unpacks to more than is allowed")
                          .with(Key::limit, std::to_string(request_.unpacked_limit)));
        for (const cache::TreeEntry& entry : list.entries) {
          if (entry.kind == cache::TreeEntry::Kind::link) continue;
          const auto [known, fresh] = wanted.emplace(entry.identity, entry.size);
          if (known->second != entry.size) return fail(contradiction("two sizes are given for one file"));
          sum += entry.size;
          largest = std::max(largest, entry.size);
        }
      }
    }
    std::map<std::string, std::uint64_t> listed;
    for (const auto* blobs : {&list_.files, &list_.needs})
      for (const Blob& blob : *blobs) listed.emplace(blob.sha256, blob.size);
    std::set<std::string> named;
    for (const auto& [id, list] : provenance_.trees)
      for (const cache::TreeEntry& entry : list.entries) {
        if (entry.kind == cache::TreeEntry::Kind::link) continue;
        named.insert(entry.identity);
        const auto found = listed.find(entry.identity);
        if (found == listed.end()) return fail(contradiction("it lacks " + entry.identity));
        if (found->second != entry.size) return fail(contradiction("two sizes are given for one file"));
      }
    if (named.size() != listed.size()) return fail(contradiction("it holds files that no build has"));
    TRY(store_.require_space(sum, largest));
    files.want(std::move(wanted));
    std::vector<Blob> here;
    for (const Blob& blob : list_.needs)
      if (files.is_wanted(blob.sha256)) here.push_back(blob);
    if (auto found = files.find_in_caches(here, request_.also_here); !found)
      return fail(lacking(std::move(found).error()));
    return {};
  }

  Diagnosis contradiction(std::string_view problem) const {
    return diagnose(Code::bundle_damaged)
        .with(Key::file, path_text(request_.file))
        .with(Key::problem, problem);
  }

  Diagnosis lacking(Diagnosis diagnosis) const {
    if (diagnosis.code != Code::bundle_needs_earlier_one) return diagnosis;
    diagnosis.with(Key::file, path_text(request_.file));
    if (request_.readable_by_all) diagnosis.with(Key::layer, path_text(store_.root()));
    if (!list_.base) return diagnosis;
    diagnosis.with(Key::base, list_.base->name, "the bundle's list");
    for (const std::string& build : list_.base->builds) diagnosis.with(Key::base_build, build);
    return diagnosis;
  }

  Result<void> report(std::uint64_t more) {
    done_ += more;
    if (request_.cancel && request_.cancel->canceled())
      return fail(diagnose(Code::canceled).with(Key::file, path_text(request_.file)));
    if (request_.progress) request_.progress(done_, total_);
    return {};
  }

  Result<void> read_files(StagedFiles& files) {
    std::vector<char> buffer(1u << 18);
    for (const Blob& blob : list_.files) {
      TRY_ASSIGN(const auto found, reader_.next());
      if (!found || found->name != std::string(blob_folder) + blob.sha256)
        return fail(std::move(reader_.damaged("an entry is not where the list says")
                                  .with(Key::expected, blob.sha256)
                                  .with(Key::found, found ? found->name : "the end")));
      if (found->size != blob.size)
        return fail(reader_.damaged("an entry has another size than the list says"));
      TRY_ASSIGN(const std::string actual, files.keep(blob.sha256, [&](const auto& take) -> Result<void> {
        for (;;) {
          TRY_ASSIGN(const std::size_t got, reader_.read(buffer.data(), buffer.size()));
          if (got == 0) return {};
          TRY(take({buffer.data(), got}));
          TRY(report(got));
        }
      }));
      if (actual != blob.sha256)
        return fail(std::move(reader_.damaged("an entry's bytes are not those that the list names")
                                  .with(Key::expected, blob.sha256)
                                  .with(Key::found, actual)));
    }
    return {};
  }

  Result<void> end() {
    TRY_ASSIGN(const auto more, reader_.next());
    if (more)
      return fail(
          std::move(reader_.damaged("it holds more than its list says").with(Key::found, more->name)));
    return {};
  }

  Result<void> publish_trees(StagedFiles& files, cache::Stage& stage) {
    files.count_uses(provenance_.trees, wanted_trees_);
    for (const std::string& tree : wanted_trees_) {
      const fs::path folder = stage.folder() / ("tree-" + tree);
      TRY(make_folders(folder));
      cache::TreeWriter writer(folder, {request_.unpacked_limit, 200'000});
      TRY(files.fill(writer, provenance_.trees.at(tree)));
      TRY_ASSIGN(const cache::TreeList written, writer.finish());
      if (written.id() != tree) return fail(contradiction("a list of files is not in its right order"));
      finished_.emplace(tree, folder);
    }
    return {};
  }

  Result<void> publish(std::size_t number) {
    const VerifiedBuild& verified = provenance_.builds[number];
    ImportedBuild& imported = imported_.builds[number];
    if (imported.was_there) return {};
    const std::string& id = verified.build->id;
    TRY_ASSIGN(cache::Stage stage, store_.stage(cache::Store::key_of(id), waiting()));
    for (const std::string& tree : verified.trees)
      if (const auto folder = finished_.find(tree); folder != finished_.end()) {
        if (!store_.has_tree(tree))
          TRY(store_.publish_tree(provenance_.trees.at(tree), folder->second, {}).map([](const std::string&) {
          }));
      }
    TRY_ASSIGN(const fs::path view, store_.make_view(verified.trees, stage));
    std::error_code error;
    if (!fs::is_regular_file(view / path_of(verified.build->plugin_path), error))
      return fail(std::move(contradiction("it does not hold the plugin").with(Key::build, id)));
    cache::Installed record = acquire::record_for(*verified.build, verified.trees, files_by(verified));
    record.origin = verified.own               ? request_.own_repository
                    : verified.from_repository ? without_passwords(verified.repository)
                                               : std::string();
    record.signers = verified.signed_by;
    TRY_ASSIGN(imported.installed, store_.write_ref(std::move(record)));
    return {};
  }

  // Keeps the documents byte for byte, so that they can be verified again.
  Result<void> keep_documents() {
    for (const BundledRepository& repository : list_.repositories) {
      std::string index;
      for (const RepositoryDocument& document : repository.documents)
        if (document.path == "index.json") index = document.sha256;
      for (const RepositoryDocument& document : repository.documents) {
        const fs::path file = kept_at(index) / path_of(document.path);
        TRY(make_folders(file.parent_path()));
        TRY(write_file(file, documents_.at(document.sha256)));
      }
    }
    return {};
  }

  const cache::Store& store_;
  const ImportRequest& request_;
  BundleReader& reader_;
  BundleList list_;
  std::string list_digest_;
  std::map<std::string, std::string> documents_;
  Provenance provenance_;
  std::set<std::string> wanted_trees_;
  std::map<std::string, fs::path> finished_;
  std::uint64_t done_ = 0, total_ = 0;
  Imported imported_;
};

// Makes folders 0755 and files readable by all, because they may have been created under a restrictive umask.
void open_to_all(const fs::path& folder) {
  std::error_code error;
  const auto add = [&](const fs::path& path, fs::perms more) {
    fs::permissions(path, more, fs::perm_options::add, error);
  };
  const fs::perms read = fs::perms::group_read | fs::perms::others_read;
  const fs::perms enter = read | fs::perms::group_exec | fs::perms::others_exec;
  add(folder, enter);
  for (auto it = fs::recursive_directory_iterator(folder, error); !error && it != fs::end(it);
       it.increment(error)) {
    const fs::file_status status = it->symlink_status(error);
    if (fs::is_directory(status)) add(it->path(), enter);
    if (fs::is_regular_file(status)) add(it->path(), read);
  }
}

void open_to_all(const cache::Store& store, const Imported& imported) {
  std::error_code error;
  for (const fs::path& top : {store.root(), store.root() / "trees", store.root() / "views"})
    fs::permissions(
        top, fs::perms::group_read | fs::perms::others_read | fs::perms::group_exec | fs::perms::others_exec,
        fs::perm_options::add, error);
  // Other users need only a lease's lock, through which the removal of a build sees that it is in use.
  for (const char* small : {"lists", "refs", "leases", "repositories", "blobs"})
    open_to_all(store.root() / small);
  fs::permissions(store.root() / "LAYER.json", fs::perms::group_read | fs::perms::others_read,
                  fs::perm_options::add, error);
  for (const ImportedBuild& build : imported.builds) {
    if (build.installed.layer != store.root()) continue;
    open_to_all(build.installed.folder);
    for (const std::string& tree : build.installed.trees)
      open_to_all(cache::Store::tree_folder(store.root(), tree));
  }
}

}  // namespace

Result<Imported> import_bundle(const cache::Store& store, const ImportRequest& request) {
  TRY_ASSIGN(const auto reader, BundleReader::open(request.file));
  bool tidy = false;
  auto imported = [&] {
    Importing importing(store, request, *reader);
    auto result = importing.run();
    tidy = !result && importing.began_to_publish();
    return result;
  }();
  // Removes what a failure left, or what a concurrent removal of a build left. The next sweep makes up for
  // one that cannot run now.
  static_cast<void>(tidy ? store.sweep() : store.sweep_if_wanted());
  if (imported && request.readable_by_all) open_to_all(store, *imported);
  return imported;
}

}  // namespace enginehost::offline
