#include "tools/publish/publish.hpp"

#include <stdio.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <system_error>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/location.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "cache/lock.hpp"
#include "tools/publish/lint.hpp"
#include "tools/publish/listing.hpp"
#include "tools/publish/replace_folder.hpp"
#include "tools/publish/signing.hpp"

namespace enginehost::publish {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view old_ending = ".old";

Diagnosis disk_failure(const fs::path& file, int error_number) {
  return diagnose_errno(code_of_write_error(error_number), error_number)
      .with(Key::file, path_text(file))
      .with(Key::folder, path_text(file.parent_path()));
}

// The repository's files: path in the folder, and the digest that a document gives it, or empty.
using Documents = std::map<std::string, std::string>;

// `root_version`: 0 when the repository is not signed.
Result<Documents> documents_of(const Workspace& workspace, const manifest::Index& index,
                               std::int64_t root_version) {
  Documents paths = {{"index.json", ""}};
  if (root_version != 0) {
    for (const char* document : {"index.json", "root.json", timestamp_file}) {
      TRY_ASSIGN(const bool there, is_there(workspace.folder() / document));
      if (!there) continue;
      paths.emplace(document, "");
      TRY_ASSIGN(const auto signatures, signatures_of(workspace.folder() / document));
      for (const fs::path& signature : signatures) paths.emplace(path_text(signature.filename()), "");
    }
    TRY_ASSIGN(const auto roots, children_of(workspace.folder() / "roots"));
    for (const fs::path& root : roots) {
      const std::string name = path_text(root.filename());
      // Skips leftovers of a killed process and roots that it did not complete.
      if (name.starts_with('.') || parse_integer(name.substr(0, name.find('.'))).value_or(0) > root_version)
        continue;
      paths.emplace("roots/" + name, "");
    }
  }
  if (index.vendor_facts) paths.emplace(index.vendor_facts->path, index.vendor_facts->sha256);
  for (const manifest::IndexEntry& entry : index.manifests) {
    paths.insert_or_assign(entry.path, entry.sha256);
    const fs::path file = workspace.folder() / path_of(entry.path);
    TRY_ASSIGN(const std::string text, read_file(file, 8u << 20));
    TRY_ASSIGN(const Json document, parse_json(text, path_text(file)));
    TRY_ASSIGN(const auto manifest, manifest::read_manifest(document, "", path_text(file)));
    for (const auto& [id, component] : manifest->components)
      for (const manifest::Artifact& artifact : component.artifacts)
        for (const auto& [sources, digest] : {std::pair(&artifact.sources, &artifact.sha256),
                                              std::pair(&artifact.chunks_sources, &artifact.chunks_sha256)})
          for (const manifest::Source& source : *sources)
            if (source.kind == manifest::Source::Kind::file && !path_of(source.location).is_absolute()) {
              // lint checked engines/; this checks what is copied and where to.
              if (!workspace.file_of(source.location))
                return fail(diagnose(Code::repository_change_refused)
                                .with(Key::file, path_text(file))
                                .with(Key::problem, source.location + " leaves the repository")
                                .with(Key::remedy, "put the file below files/"));
              paths.insert_or_assign(source.location, *digest);
            }
  }
  return paths;
}

// Makes a hard link to the same bytes, or a copy where the file system has no hard links.
Result<void> bring(const fs::path& from, const fs::path& to) {
  TRY(make_folders(to.parent_path()));
  std::error_code error;
  fs::remove(to, error);
  fs::create_hard_link(from, to, error);
  if (error) return write_copy(from, to);
  return {};
}

Result<void> bring_all(const fs::path& from, const fs::path& to) {
  TRY_ASSIGN(const std::vector<fs::path> entries, entries_below(from));
  for (const fs::path& one : entries) {
    TRY_ASSIGN(const fs::file_type type, type_of(from / one));
    if (type == fs::file_type::directory)
      return fail(diagnose(Code::repository_change_refused)
                      .with(Key::folder, path_text(from / one))
                      .with(Key::problem, "it is a link to a folder, and the folder around it is replaced")
                      .with(Key::remedy, "put the files themselves there, or mount their disk there"));
    if (type == fs::file_type::regular) TRY(bring(from / one, to / one));
  }
  return {};
}

// Resolves a link to a folder; the link itself stays.
Result<fs::path> where_it_leads(fs::path out) {
  std::error_code error;
  if (!fs::is_symlink(fs::symlink_status(out, error))) return out;
  fs::path folder = fs::canonical(out, error);
  if (!error) return folder;
  return fail(diagnose_errno(Code::repository_change_refused, error.default_error_condition().value())
                  .with(Key::folder, path_text(out))
                  .with(Key::problem, "it is a link to " + path_text(fs::read_symlink(out, error)) +
                                          ", which cannot be found")
                  .with(Key::remedy, "make that folder, or name another"));
}

// Checks that the target is a folder and does not contain the workspace, because it is replaced as a whole.
Result<void> check_target(const Workspace& workspace, const fs::path& out) {
  const auto refused = [&](std::string_view problem, std::string_view remedy) {
    return fail(diagnose(Code::repository_change_refused)
                    .with(Key::folder, path_text(out))
                    .with(Key::problem, problem)
                    .with(Key::remedy, remedy));
  };
  TRY_ASSIGN(const fs::file_type type, type_of(out));
  if (type == fs::file_type::not_found) return {};
  if (type != fs::file_type::directory)
    return refused(type == fs::file_type::regular ? "it is a file, and a folder would take its place"
                                                  : "it is no folder, and one would take its place",
                   "name a folder");
  std::error_code error;
  const fs::path target = fs::canonical(out, error), own = fs::canonical(workspace.folder(), error);
  if (!error && is_below(own, target))
    return refused(own == target ? "it is the folder that is published from"
                                 : "the folder that is published from, " + path_text(own) + ", lies in it",
                   "name another folder, which the web server serves");
  return {};
}

// Addresses the failure to the keeper, who has to sign.
Diagnosis to_be_signed(Diagnosis missing, const manifest::Root& root) {
  const bool index = path_of(std::string(missing.value(Key::document))).filename() == "index.json";
  std::vector<std::string> ids;
  for (const manifest::PublicKey& key : root.keys_for(index ? manifest::Role::index : manifest::Role::root))
    ids.push_back(key.id);
  return missing.with(Key::remedy,
                      "engine-manifest sign, with --key of " + join(ids, " or ") + ", then publish again");
}

// Writes everything below the folder to the disk.
Result<void> sync_all(const fs::path& folder) {
  if (!write_out_below(folder)) return fail(disk_failure(folder, errno));
  return {};
}

// Removes the new folder unless it took its place, because on a full disk it would occupy the needed space.
class Unfinished {
 public:
  explicit Unfinished(const fs::path& folder) : folder_(folder) {}
  ~Unfinished() {
    std::error_code ignored;
    remove_tree(folder_, ignored);
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;

 private:
  const fs::path& folder_;
};

// Exchanges both names at once. Where the file system cannot (EINVAL), `out` is missing for a moment.
Result<void> take_place(const fs::path& made, const fs::path& out) {
  TRY_ASSIGN(const bool replaces, is_there(out));
  std::error_code error;
  if (!replaces) {
    if (calls::rename(made, out) != 0) return fail(disk_failure(out, errno));
  } else if (!exchange_names(made, out)) {
    fs::path old = made;
    old += old_ending;
    if (calls::rename(out, old) != 0) return fail(disk_failure(out, errno));
    if (calls::rename(made, out) != 0) {
      const int why = errno;
      static_cast<void>(calls::rename(old, out));
      return fail(disk_failure(out, why));
    }
    remove_tree(old, error);
  }
  TRY(sync_folder(out.parent_path()));
  remove_tree(made, error);
  return {};
}

// Removes what an interrupted run left beside `out`. If that run ended while `out` was missing, restores
// `out` first.
Result<void> clear_leftovers(const fs::path& out, const std::string& prefix) {
  TRY_ASSIGN(bool there, is_there(out));
  TRY_ASSIGN(const std::vector<fs::path> beside, children_of(out.parent_path()));
  for (const fs::path& left : beside) {
    const std::string name = path_text(left.filename());
    if (!name.starts_with(prefix)) continue;
    if (!there && name.ends_with(old_ending)) {
      if (calls::rename(left, out) != 0) return fail(disk_failure(out, errno));
      there = true;
    } else {
      std::error_code ignored;
      remove_tree(left, ignored);
    }
  }
  return {};
}

Result<std::optional<std::string>> published_index(const fs::path& out) {
  TRY_ASSIGN(const auto there, children_of(out));
  if (there.empty()) return std::nullopt;
  TRY_ASSIGN(const bool published, is_there(out / "index.json"));
  if (!published)
    return fail(diagnose(Code::repository_change_refused)
                    .with(Key::folder, path_text(out))
                    .with(Key::problem, "it holds other things than a published repository")
                    .with(Key::remedy, "name an empty folder, or one that publish wrote"));
  return read_file(out / "index.json", 8u << 20).map([](std::string&& text) {
    return std::optional(std::move(text));
  });
}

// Refuses an older index, because users who saw the newer one would refuse it.
Result<void> check_newer(const fs::path& out, const std::string& there, std::int64_t serial) {
  const std::string name = path_text(out / "index.json");
  TRY_ASSIGN(const Json document, parse_json(there, name));
  TRY_ASSIGN(const manifest::Index before, manifest::read_index(document, name));
  if (before.serial >= serial)
    return fail(diagnose(Code::older_than_seen)
                    .with(Key::document, "the index to be published")
                    .with(Key::repository, path_text(out))
                    .with(Key::found, std::to_string(serial))
                    .with(Key::expected, std::to_string(before.serial + 1))
                    .with(Key::remedy, "publish from the folder that made version " +
                                           std::to_string(before.serial) + ", or from a copy of it"));
  return {};
}

// The root that readers of `out` have seen, in all its copies there: root.json and the copy under its
// version. A copy that is unreadable, or whose version differs from its name, was damaged.
struct PublishedRoot {
  std::int64_t version = 0;
  std::vector<std::string> texts;
};

Result<PublishedRoot> published_root(const fs::path& out) {
  TRY_ASSIGN(std::vector<fs::path> files, children_of(out / "roots"));
  std::erase_if(files, [](const fs::path& file) { return file.extension() != ".json"; });
  TRY_ASSIGN(const bool there, is_there(out / "root.json"));
  if (there) files.push_back(out / "root.json");
  PublishedRoot newest;
  for (const fs::path& file : files) {
    TRY_ASSIGN(std::string text, read_file(file, 8u << 20));
    const std::string name = path_text(file), stem = path_text(file.stem());
    const auto root =
        parse_json(text, name).and_then([&](const Json& json) { return manifest::read_root(json, name); });
    if (!root || root->version < newest.version) continue;
    if (stem != "root" && stem != std::to_string(root->version)) continue;
    if (root->version > newest.version) newest = {root->version, {}};
    newest.texts.push_back(std::move(text));
  }
  return newest;
}

// Refuses an older root, a different one and none, because users who saw the published root would refuse
// them.
Result<void> check_root(const Workspace& workspace, const std::optional<manifest::Root>& root,
                        const fs::path& out) {
  TRY_ASSIGN(const PublishedRoot published, published_root(out));
  const std::string version = std::to_string(published.version);
  if (published.texts.empty()) return {};
  if (!root)
    return fail(diagnose(Code::repository_change_refused)
                    .with(Key::folder, path_text(workspace.folder()))
                    .with(Key::problem, "it is not signed, and what is published in " + path_text(out) +
                                            " is (root " + version +
                                            "): machines that saw it refuse this one")
                    .with(Key::remedy,
                          "publish from the folder that has its root.json and roots/, or publish "
                          "under another address: name an empty folder"));
  auto refused = diagnose(Code::older_than_seen);
  refused.with(Key::document, "the root to be published")
      .with(Key::repository, path_text(out))
      .with(Key::found, std::to_string(root->version))
      .with(Key::remedy, "publish from the folder that made version " + version +
                             ", which has it in root.json and in roots/, or from a copy of it");
  if (root->version < published.version) return fail(refused.with(Key::expected, version));
  if (root->version > published.version) return {};
  TRY_ASSIGN(const std::string text, read_file(workspace.folder() / "root.json", 8u << 20));
  if (std::find(published.texts.begin(), published.texts.end(), text) == published.texts.end())
    return fail(refused.with(Key::expected, std::to_string(published.version + 1))
                    .with(Key::problem, "another root with this version is published there"));
  return {};
}

// Returns whether the published file equals the folder's. lint has already compared files with known digests,
// so large archives are read once on each side. Read errors are left to the copying.
bool same_bytes(const fs::path& one, const fs::path& published, const std::string& known_digest) {
  std::error_code error;
  const auto size = fs::file_size(one, error);
  if (error || fs::file_size(published, error) != size || error) return false;
  const auto digest = known_digest.empty() ? sha256_of_file(one) : Result<std::string>(known_digest);
  const auto published_digest = sha256_of_file(published);
  return digest && published_digest && *digest == *published_digest;
}

constexpr fs::perms mode_of_files = fs::perms(0644);

bool is_system_layer(const fs::path& file) {
  std::error_code error;
  return fs::status(file, error).permissions() == mode_of_files;
}

}  // namespace

Result<Published> publish(const Workspace& workspace, const fs::path& given, std::int64_t now) {
  std::error_code unknown;
  fs::path out = fs::absolute(given, unknown);
  out = path_of(plain_location(path_text(unknown ? given : out)));
  TRY_ASSIGN(out, where_it_leads(std::move(out)));
  TRY(check_target(workspace, out));
  // The lock ensures that the checked files are the copied ones. A user who may only read the folder
  // publishes what is already signed.
  auto unchanged = workspace.lock("engine-manifest publish");
  if (!unchanged && unchanged.error().code != Code::folder_not_writable)
    return fail(std::move(unchanged).error());
  if (LintFindings findings = lint(workspace, now); !findings.errors.empty())
    return fail(std::move(findings.errors.front().with(Key::errors, std::to_string(findings.errors.size()))));
  TRY_ASSIGN(const std::optional<manifest::Root> root, workspace.root());
  TRY_ASSIGN(const bool new_index, workspace.prepare(now));
  if (root && new_index)
    return fail(to_be_signed(diagnose(Code::too_few_signatures)
                                 .with(Key::document, path_text(workspace.folder() / "index.json"))
                                 .with(Key::repository, path_text(workspace.folder()))
                                 .with(Key::expected, std::to_string(root->index_threshold))
                                 .with(Key::found, "0"),
                             *root));
  TRY_ASSIGN(std::vector<Diagnosis> missing, missing_signatures(workspace));
  const auto first_of_timestamp = std::stable_partition(
      missing.begin(), missing.end(),
      [](const Diagnosis& one) { return !one.value(Key::document).ends_with(timestamp_file); });
  if (missing.begin() != first_of_timestamp) return fail(to_be_signed(std::move(missing.front()), *root));

  TRY_ASSIGN(const std::optional<manifest::Index> index, workspace.index());
  if (!index)
    return fail(diagnose(Code::repository_change_refused)
                    .with(Key::folder, path_text(workspace.folder()))
                    .with(Key::problem, "its index.json was removed meanwhile")
                    .with(Key::remedy, "run it again"));
  TRY_ASSIGN(const std::string bytes, read_file(workspace.folder() / "index.json", 8u << 20));
  TRY(make_folders(out.parent_path()));
  // A second publisher sees what the first one published.
  TRY_ASSIGN(const cache::FileLock lock,
             cache::FileLock::exclusive(lock_of_published(out), "engine-manifest publish"));
  const std::string prefix = "." + path_text(out.filename()) + ".new-";
  TRY(clear_leftovers(out, prefix));
  TRY_ASSIGN(const std::optional<std::string> there, published_index(out));
  Published published;
  published.serial = index->serial;
  published.root_version = root ? root->version : 0;
  TRY_ASSIGN(published.root_date, root_date(workspace, now));
  // A scheduled job may have stamped the published folder since. Clients that saw its timestamp refuse an
  // earlier one.
  TRY_ASSIGN(const std::int64_t stamped_there, timestamp_version(out, root));
  TRY_ASSIGN(const std::int64_t stamped_here, timestamp_version(workspace.folder(), root));
  const bool keep_timestamp = stamped_there > stamped_here;
  if (!keep_timestamp && !missing.empty()) return fail(to_be_signed(std::move(missing.front()), *root));
  TRY_ASSIGN(Documents documents, documents_of(workspace, *index, published.root_version));
  if (keep_timestamp)
    std::erase_if(documents, [](const auto& one) { return one.first.starts_with(timestamp_file); });
  std::set<std::string> same;
  for (const auto& [path, digest] : documents)
    if (same_bytes(workspace.folder() / path_of(path), out / path_of(path), digest)) same.insert(path);
  published.files = documents.size() - same.size();
  if (there) TRY(check_root(workspace, root, out));
  // The same index may have more signatures now, and the published files may be damaged.
  if (there && *there == bytes && published.files == 0) return published;
  if (there && *there != bytes) TRY(check_newer(out, *there, index->serial));

  std::error_code error;
  TRY_ASSIGN(const fs::path made, make_private_folder(out.parent_path(), prefix));
  const Unfinished unfinished(made);
  fs::permissions(made, there ? fs::status(out, error).permissions() : fs::perms(0755), error);
  if (there) TRY(bring_all(out, made));
  // Signatures of the previous index no longer fit.
  for (const char* document : {"index.json", "root.json", timestamp_file}) {
    if (keep_timestamp && std::string_view(document) == timestamp_file) continue;
    TRY_ASSIGN(const auto signatures, signatures_of(made / document));
    for (const fs::path& old : signatures) fs::remove(old, error);
  }
  for (const auto& [path, digest] : documents) {
    const fs::path to = made / path_of(path);
    // It was compared just now, and is linked here already.
    if (!digest.empty() && same.contains(path) && is_system_layer(to)) continue;
    // Copies rather than links, because the keeper edits the workspace's files and a link would change with
    // them.
    TRY(make_folders(to.parent_path()));
    fs::remove(to, error);
    TRY(write_copy(workspace.folder() / path_of(path), to));
    fs::permissions(to, mode_of_files, error);
  }
  TRY(sync_all(made));
  TRY(take_place(made, out));
  published.changed = true;
  return published;
}

}  // namespace enginehost::publish
