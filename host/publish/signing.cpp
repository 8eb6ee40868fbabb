#include "host/publish/signing.hpp"

#include <algorithm>
#include <system_error>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "host/manifest/trust/signed_repository.hpp"
#include "host/publish/listing.hpp"

namespace enginehost::publish {
namespace {

namespace fs = std::filesystem;
using manifest::Role;
using manifest::Root;

constexpr std::int64_t day = 86'400;
constexpr std::int64_t root_lifetime_in_indexes = 3;  // an expired root stops everything: it gets more time

Diagnosis refusal(const Workspace& workspace, std::string_view problem, std::string_view remedy) {
  return diagnose("EH-M17")
      .with("folder", path_text(workspace.folder()))
      .with("problem", problem)
      .with("remedy", remedy);
}

fs::path numbered(const Workspace& workspace, std::int64_t version) {
  return workspace.folder() / "roots" / (path_of(std::to_string(version) + ".json"));
}

bool lists(const Root& root, const manifest::PublicKey& key, Role role) {
  const auto keys = root.keys_for(role);
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

Result<Root> changed(const Workspace& workspace, Root root, const RootChange& change) {
  for (const manifest::PublicKey& key : change.add) {
    const auto same = [&](const manifest::RootKey& known) { return known.key.id == key.id; };
    if (std::none_of(root.keys.begin(), root.keys.end(), same)) root.keys.push_back({key, true, true});
  }
  for (const std::vector<std::string>* ids : {&change.remove, &change.revoke})
    for (const std::string& given : *ids) {
      const std::string id = manifest::full_key_id(given);
      if (std::erase_if(root.keys, [&](const manifest::RootKey& key) { return key.key.id == id; }) == 0)
        return fail(refusal(workspace, "its root has no key " + given,
                            "engine-manifest sign with the ids of its keys, or without it"));
      if (ids == &change.revoke && !root.is_revoked(id)) root.revoked.push_back(id);
    }
  root.root_threshold = change.root_threshold.value_or(root.root_threshold);
  root.index_threshold = change.index_threshold.value_or(root.index_threshold);
  for (const Role role : {Role::root, Role::index})
    if (static_cast<std::size_t>(root.threshold_for(role)) > root.keys_for(role).size())
      return fail(refusal(workspace, "fewer keys would be left than must sign",
                          "--add-key another, or lower the threshold"));
  return root;
}

// A root and its copy under its number, unsigned yet.
Result<void> write_root(const Workspace& workspace, Root& root, std::int64_t now) {
  root.created = manifest::text_of_time(now);
  root.expires = manifest::text_of_time(now + workspace.expires_days() * root_lifetime_in_indexes * day);
  std::error_code error;
  for (const fs::path& place : {workspace.folder() / "root.json", numbered(workspace, root.version)}) {
    TRY_ASSIGN(const std::vector<fs::path> signatures, signatures_of(place));
    for (const fs::path& signature : signatures) fs::remove(signature, error);
    TRY(workspace.write_json(place, to_json(root)));
  }
  return {};
}

bool half_over(const Root& root, std::int64_t now) {
  const auto created = manifest::seconds_of_time(root.created), end = manifest::seconds_of_time(root.expires);
  return created && end && now - *created > (*end - *created) / 2;
}

Result<Root> root_to_sign(const Workspace& workspace, const std::vector<SecretKey>& keys,
                          const RootChange& change, std::int64_t now) {
  TRY_ASSIGN(std::optional<Root> root, workspace.root());
  const bool renew = root && change.empty() && half_over(*root, now) &&
                     std::any_of(keys.begin(), keys.end(), [&](const SecretKey& key) {
                       return lists(*root, key.public_key(), Role::root);
                     });
  if (root && change.empty() && !renew) return std::move(*root);
  if (!root) {
    root.emplace();
    root->name = workspace.name();
    for (const SecretKey& key : keys) root->keys.push_back({key.public_key(), true, true});
  }
  TRY_ASSIGN(Root next, changed(workspace, std::move(*root), change));
  next.name = workspace.name();
  ++next.version;
  TRY(write_root(workspace, next, now));
  return next;
}

// Signs unless this key has signed these very bytes already.
Result<bool> sign_file(const fs::path& file, const SecretKey& key, const manifest::Statement& statement) {
  TRY_ASSIGN(const std::string bytes, read_file(file, 8u << 20));
  fs::path place = file;
  place += "." + key.public_key().id + ".minisig";
  if (const auto before = read_file(place, 64u << 10))
    if (const auto signature = manifest::read_signature(*before, path_text(place));
        signature && problem_of(*signature, key.public_key(), bytes).empty())
      return false;
  TRY_ASSIGN(const manifest::Signature signature, key.sign(bytes, statement.text()));
  TRY(write_file(place, write_signature(signature, "signature from engine-manifest")));
  return true;
}

// The root before this one, if there was one.
Result<std::optional<Root>> root_before(const Workspace& workspace, const Root& root) {
  const fs::path file = numbered(workspace, root.version - 1);
  TRY_ASSIGN(const bool there, is_there(file));
  if (!there) return std::nullopt;
  TRY_ASSIGN(const std::string text, read_file(file, 8u << 20));
  TRY_ASSIGN(const Json document, parse_json(text, path_text(file)));
  return manifest::read_root(document, path_text(file)).map([](Root&& before) {
    return std::optional(std::move(before));
  });
}

}  // namespace

Result<std::vector<Diagnosis>> missing_signatures(const Workspace& workspace) {
  std::vector<Diagnosis> missing;
  TRY_ASSIGN(const std::optional<Root> root, workspace.root());
  if (!root) return missing;
  TRY_ASSIGN(const std::optional<Root> before, root_before(workspace, *root));
  manifest::FolderReader reader;
  manifest::RepositoryFiles files(path_text(workspace.folder()), reader);
  const auto check = [&](const Root& by, Role role, const std::string& path) -> Result<void> {
    TRY_ASSIGN(const std::string bytes, read_file(workspace.folder() / path_of(path), 8u << 20));
    const auto signed_by =
        check_signatures(files, path, bytes, {role, by.keys_for(role), by.threshold_for(role), by.revoked});
    if (!signed_by) missing.push_back(signed_by.error());
    return {};
  };
  TRY(check(*root, Role::root, "root.json"));
  if (before) TRY(check(*before, Role::root, "root.json"));
  TRY(check(*root, Role::index, "index.json"));
  return missing;
}

Result<Signed> sign(const Workspace& workspace, const std::vector<SecretKey>& keys, const RootChange& change,
                    std::int64_t now) {
  TRY_ASSIGN(const cache::FileLock lock, workspace.lock("engine-manifest sign"));
  TRY_ASSIGN(const Root root, root_to_sign(workspace, keys, change, now));
  TRY_ASSIGN(const std::optional<Root> before, root_before(workspace, root));
  TRY(workspace.prepare(now).map([](bool) {}));
  TRY_ASSIGN(const std::optional<manifest::Index> index, workspace.index());
  if (!index) return fail(refusal(workspace, "its index.json was taken away meanwhile", "run it again"));
  Signed result;
  result.root_version = root.version;
  result.serial = index->serial;
  for (const SecretKey& key : keys) {
    const manifest::PublicKey& id = key.public_key();
    const bool for_root = lists(root, id, Role::root) || (before && lists(*before, id, Role::root));
    const bool for_index = lists(root, id, Role::index);
    if (!for_root && !for_index)
      return fail(
          refusal(workspace, "its root does not know the key " + id.id,
                  "engine-manifest sign --add-key " + id.text() + ", with --key of one that it knows"));
    if (for_root)
      for (const fs::path& place : {workspace.folder() / "root.json", numbered(workspace, root.version)}) {
        TRY_ASSIGN(const bool done, sign_file(place, key, {Role::root, root.version, now}));
        if (done && place.filename() == "root.json") result.documents.push_back("root.json by " + id.id);
      }
    if (for_index) {
      TRY_ASSIGN(const bool done,
                 sign_file(workspace.folder() / "index.json", key, {Role::index, index->serial, now}));
      if (done) result.documents.push_back("index.json by " + id.id);
    }
  }
  TRY_ASSIGN(const std::vector<Diagnosis> missing, missing_signatures(workspace));
  for (const Diagnosis& one : missing)
    result.missing.push_back(path_text(path_of(std::string(one.value("document"))).filename()) + " has " +
                             std::string(one.value("found")) + " of " + std::string(one.value("expected")) +
                             " signatures");
  return result;
}

}  // namespace enginehost::publish
