#include "tools/publish/signing.hpp"

#include <algorithm>
#include <map>
#include <system_error>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "host/manifest/trust/signed_repository.hpp"
#include "tools/publish/listing.hpp"
#include "tools/publish/signed_documents.hpp"

namespace enginehost::publish {
namespace {

namespace fs = std::filesystem;
using manifest::Role;
using manifest::Root;

constexpr std::int64_t day = 86'400;
constexpr std::int64_t root_lifetime_in_indexes =
    3;  // an expired root stops everything, so it is valid for longer

Diagnosis refusal(const fs::path& folder, std::string_view problem, std::string_view remedy) {
  return diagnose(Code::repository_change_refused)
      .with(Key::folder, path_text(folder))
      .with(Key::problem, problem)
      .with(Key::remedy, remedy);
}

Diagnosis refusal(const Workspace& workspace, std::string_view problem, std::string_view remedy) {
  return refusal(workspace.folder(), problem, remedy);
}

fs::path numbered(const Workspace& workspace, std::int64_t version) {
  return workspace.folder() / "roots" / (path_of(std::to_string(version) + ".json"));
}

Result<Root> read_root_of(const fs::path& file) {
  TRY_ASSIGN(const std::string text, read_file(file, 8u << 20));
  TRY_ASSIGN(const Json document, parse_json(text, path_text(file)));
  return manifest::read_root(document, path_text(file));
}

bool lists(const Root& root, const manifest::PublicKey& key, Role role) {
  const auto keys = root.keys_for(role);
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

// Refuses two flags about the same key, because it would be unclear which one applies.
Result<void> check_unambiguous(const Workspace& workspace, const RootChange& change) {
  std::map<std::string, const char*> said;
  const auto take = [&](const std::string& id, const char* flag) -> Result<void> {
    const auto [known, added] = said.emplace(id, flag);
    if (added || known->second == std::string_view(flag)) return {};
    return fail(refusal(workspace, std::string(known->second) + " and " + flag + " both name the key " + id,
                        "leave one of them out"));
  };
  for (const auto& key : change.add) TRY(take(key.id, "--add-key"));
  for (const auto& key : change.add_for_root) TRY(take(key.id, "--add-root-key"));
  for (const auto& key : change.add_for_index) TRY(take(key.id, "--add-index-key"));
  for (const auto& id : change.remove) TRY(take(manifest::full_key_id(id), "--remove-key"));
  for (const auto& id : change.revoke) TRY(take(manifest::full_key_id(id), "--revoke-key"));
  return {};
}

Result<void> put_key(const Workspace& workspace, Root& root, const manifest::RootKey& put) {
  // A revoked key would be listed but never count, because a root does not take back a revocation.
  if (root.is_revoked(put.key.id))
    return fail(refusal(workspace,
                        "its root has revoked the key " + put.key.id + ", which never counts again",
                        "make a new one (minisign -G), and --add-key that"));
  for (manifest::RootKey& known : root.keys) {
    if (known.key.id != put.key.id) continue;
    if (known.key.bytes != put.key.bytes)
      return fail(refusal(workspace,
                          "its root has another key of the id " + put.key.id + ", " + known.key.text(),
                          "make a new one (minisign -G), and --add-key that"));
    known = put;
    return {};
  }
  root.keys.push_back(put);
  return {};
}

std::string ids_of(const Root& root) {
  std::vector<std::string> ids;
  for (const manifest::RootKey& key : root.keys) ids.push_back(key.key.id);
  return join(ids, ", ");
}

// Returns whether this root or an earlier one lists the key.
Result<bool> was_listed(const Workspace& workspace, const Root& root, const std::string& id) {
  const auto lists_it = [&](const Root& one) {
    return std::any_of(one.keys.begin(), one.keys.end(), [&](const auto& key) { return key.key.id == id; }) ||
           std::any_of(one.timestamp_keys.begin(), one.timestamp_keys.end(),
                       [&](const auto& key) { return key.id == id; });
  };
  if (lists_it(root)) return true;
  for (std::int64_t version = root.version; version > 0; --version) {
    const fs::path file = numbered(workspace, version);
    TRY_ASSIGN(const bool there, is_there(file));
    if (!there) continue;
    TRY_ASSIGN(const Root before, read_root_of(file));
    if (lists_it(before)) return true;
  }
  return false;
}

Result<Root> changed(const Workspace& workspace, Root root, const RootChange& change) {
  TRY(check_unambiguous(workspace, change));
  for (const auto& key : change.add) TRY(put_key(workspace, root, {key, true, true}));
  for (const auto& key : change.add_for_root) TRY(put_key(workspace, root, {key, true, false}));
  for (const auto& key : change.add_for_index) TRY(put_key(workspace, root, {key, false, true}));
  for (const auto& key : change.add_for_timestamp) {
    if (root.is_revoked(key.id))
      return fail(refusal(workspace, "its root has revoked the key " + key.id + ", which never counts again",
                          "make a new one (minisign -G), and --add-timestamp-key that"));
    if (!lists(root, key, Role::timestamp)) root.timestamp_keys.push_back(key);
  }
  for (const std::vector<std::string>* ids : {&change.remove, &change.revoke})
    for (const std::string& given : *ids) {
      const std::string id = manifest::full_key_id(given);
      const bool revoked = ids == &change.revoke;
      // A key that was removed before it was lost is revoked as well.
      TRY_ASSIGN(const bool known, was_listed(workspace, root, id));
      const auto removed =
          std::erase_if(root.keys, [&](const manifest::RootKey& key) { return key.key.id == id; }) +
          std::erase_if(root.timestamp_keys, [&](const manifest::PublicKey& key) { return key.id == id; });
      if (removed == 0 && !(revoked && known))
        return fail(refusal(workspace,
                            "its root has no key " + given + " (its keys are " + ids_of(root) + ")",
                            "name one of these, or leave the flag out"));
      if (revoked && !root.is_revoked(id)) root.revoked.push_back(id);
    }
  root.root_threshold = change.root_threshold.value_or(root.root_threshold);
  root.index_threshold = change.index_threshold.value_or(root.index_threshold);
  for (const Role role : {Role::root, Role::index})
    if (static_cast<std::size_t>(root.threshold_for(role)) > root.keys_for(role).size())
      return fail(refusal(workspace,
                          std::string("fewer keys would be left for the ") +
                              (role == Role::root ? "root" : "index") + " than must sign it (" +
                              std::to_string(root.threshold_for(role)) + ")",
                          "--add-key another, or lower the threshold"));
  if (root.keys.size() > manifest::most_root_keys)
    return fail(refusal(workspace,
                        "its root would have " + std::to_string(root.keys.size()) +
                            " keys, and no reader "
                            "takes more than " +
                            std::to_string(manifest::most_root_keys),
                        "--remove-key those that are not used any more"));
  return root;
}

// Writes a root and its numbered copy, not yet signed. The copy comes first, because it is the only way from
// the previous root to this one. The copy of a root that was never written is written again.
Result<void> write_root(const Workspace& workspace, const Root& root) {
  std::error_code error;
  for (const fs::path& place : {numbered(workspace, root.version), workspace.folder() / "root.json"}) {
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

enum class Copy { none, same, other };

// Compares the numbered copy of root.json with root.json.
Result<Copy> copy_of(const Workspace& workspace, const Root& root) {
  const fs::path file = numbered(workspace, root.version);
  TRY_ASSIGN(const bool there, is_there(file));
  if (!there) return Copy::none;
  TRY_ASSIGN(const std::string copy, read_file(file, 8u << 20));
  TRY_ASSIGN(const std::string bytes, read_file(workspace.folder() / "root.json", 8u << 20));
  return copy == bytes ? Copy::same : Copy::other;
}

// Makes the missing copy, with the existing signatures. The copy is written last because its presence implies
// theirs.
Result<void> make_copy(const Workspace& workspace, std::int64_t version) {
  const fs::path root = workspace.folder() / "root.json", copy = numbered(workspace, version);
  TRY(make_folders(copy.parent_path()));
  TRY_ASSIGN(std::vector<fs::path> files, signatures_of(root));
  files.push_back(root);
  for (const fs::path& file : files) {
    TRY_ASSIGN(const std::string bytes, read_file(file, 8u << 20));
    const std::string ending = path_text(file.filename()).substr(std::string_view("root.json").size());
    TRY(write_file(copy.parent_path() / path_of(path_text(copy.filename()) + ending), bytes));
  }
  return {};
}

// Returns the previous root, if there was one.
Result<std::optional<Root>> root_before(const Workspace& workspace, const Root& root) {
  const fs::path file = numbered(workspace, root.version - 1);
  TRY_ASSIGN(const bool there, is_there(file));
  if (!there) return std::nullopt;
  return read_root_of(file).map([](Root&& before) { return std::optional(std::move(before)); });
}

// The root to sign, which may not be written yet.
struct NextRoot {
  Root root;
  std::optional<Root> before;     // its keys have to sign as well
  bool is_new = false;            // not written yet
  std::int64_t without_copy = 0;  // the version of a root.json without a numbered copy, or 0
};

Result<NextRoot> root_to_sign(const Workspace& workspace, const std::vector<SecretKey>& keys,
                              const RootChange& change, std::int64_t now) {
  NextRoot next;
  next.is_new = true;
  TRY_ASSIGN(std::optional<Root> root, workspace.root());
  if (!root) {
    root.emplace();
    for (const SecretKey& key : keys)  // the same key may be given twice
      if (!lists(*root, key.public_key(), Role::root)) root->keys.push_back({key.public_key(), true, true});
  } else {
    TRY_ASSIGN(const Copy copy, copy_of(workspace, *root));
    if (copy == Copy::none) next.without_copy = root->version;
    const bool renew = half_over(*root, now) && std::any_of(keys.begin(), keys.end(), [&](const auto& key) {
                         return lists(*root, key.public_key(), Role::root);
                       });
    // An edit by hand needs a new version as well. With its old version the root would contradict its
    // numbered copy, and an attacker's next root could follow either.
    if (change.empty() && !renew && copy != Copy::other && root->name == workspace.name()) {
      TRY_ASSIGN(next.before, root_before(workspace, *root));
      next.root = std::move(*root);
      next.is_new = false;
      return next;
    }
    if (copy == Copy::other) {
      TRY_ASSIGN(next.before, read_root_of(numbered(workspace, root->version)));
    } else {
      next.before = root;
    }
  }
  TRY_ASSIGN(next.root, changed(workspace, std::move(*root), change));
  next.root.name = workspace.name();
  ++next.root.version;
  next.root.created = text_of_time(now);
  next.root.expires = text_of_time(now + workspace.expires_days() * root_lifetime_in_indexes * day);
  const fs::path file = workspace.folder() / "root.json";
  TRY(manifest::read_root(to_json(next.root), path_text(file)).map([](const Root&) {}));
  return next;
}

bool may_sign_root(const NextRoot& next, const manifest::PublicKey& key) {
  return lists(next.root, key, Role::root) || (next.before && lists(*next.before, key, Role::root));
}

Result<void> check_key(const Workspace& workspace, const NextRoot& next, const manifest::PublicKey& key) {
  if (may_sign_root(next, key) || lists(next.root, key, Role::index) ||
      lists(next.root, key, Role::timestamp))
    return {};
  if (next.root.is_revoked(key.id))
    return fail(refusal(workspace, "its root has revoked the key " + key.id + ", which never counts again",
                        "engine-manifest sign with --key of another; a new key comes in with --add-key"));
  return fail(refusal(workspace, "its root does not know the key " + key.id,
                      "engine-manifest sign --add-key " + key.text() + ", with --key of one that it knows"));
}

// Signs unless this key has already signed these bytes.
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

}  // namespace

Result<std::vector<Diagnosis>> root_contradictions(const Workspace& workspace) {
  std::vector<Diagnosis> found;
  TRY_ASSIGN(const std::optional<Root> root, workspace.root());
  if (!root) return found;
  const auto wrong = [&](const std::string& problem) {
    found.push_back(
        diagnose(Code::manifest_fails_for_users)
            .with(Key::document, path_text(workspace.folder() / "root.json"))
            .with(Key::problem, problem)
            .with(Key::remedy, "engine-manifest sign, with a key that the root gives the role root"));
  };
  TRY_ASSIGN(const Copy copy, copy_of(workspace, *root));
  const std::string name = path_text(numbered(workspace, root->version));
  if (copy == Copy::other) wrong("it is not what " + name + " says of the same version: it was edited");
  // A root that was written by hand need not have a copy.
  if (copy == Copy::none && workspace.has_engines_folder()) wrong("there is no copy of it, " + name);
  if (!workspace.name().empty() && root->name != workspace.name())
    wrong("it is the root of \"" + root->name + "\", and the repository's name is \"" + workspace.name() +
          "\"");
  return found;
}

Result<bool> root_has_expired(const Workspace& workspace, std::int64_t now) {
  TRY_ASSIGN(const std::optional<Root> root, workspace.root());
  const auto end = root ? manifest::seconds_of_time(root->expires) : std::nullopt;
  return end && now >= *end;
}

Result<std::optional<Diagnosis>> root_date(const Workspace& workspace, std::int64_t now) {
  TRY_ASSIGN(const std::optional<Root> root, workspace.root());
  TRY_ASSIGN(const bool expired, root_has_expired(workspace, now));
  if (!root || (!expired && !half_over(*root, now))) return std::nullopt;
  std::vector<std::string> ids;
  for (const manifest::PublicKey& key : root->keys_for(Role::root)) ids.push_back(key.id);
  Diagnosis found = diagnose(Code::manifest_fails_for_users);
  found.with(Key::document, path_text(workspace.folder() / "root.json"))
      .with(Key::problem, expired
                              ? "it expired at " + root->expires + ": users' machines install nothing more"
                              : "it is valid until " + root->expires + ", and no index renews it")
      .with(Key::remedy, "engine-manifest sign, with --key of " + join(ids, " or "));
  return std::optional(std::move(found));
}

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
  if (root->timestamp_keys.empty()) return missing;
  TRY_ASSIGN(const bool stamped, is_there(workspace.folder() / timestamp_file));
  if (stamped)
    TRY(check(*root, Role::timestamp, timestamp_file));
  else
    missing.push_back(diagnose(Code::too_few_signatures)
                          .with(Key::document, path_text(workspace.folder() / timestamp_file))
                          .with(Key::expected, std::to_string(root->timestamp_threshold))
                          .with(Key::found, "0"));
  return missing;
}

namespace {

// The caller holds the folder's lock.
Result<Stamped> stamp_locked(const fs::path& folder, const std::vector<SecretKey>& keys, std::int64_t hours,
                             std::int64_t now) {
  TRY_ASSIGN(const Root root, read_root_of(folder / "root.json"));
  std::vector<const SecretKey*> signers;
  for (const SecretKey& key : keys)
    if (lists(root, key.public_key(), Role::timestamp)) signers.push_back(&key);
  if (signers.empty())
    return fail(
        refusal(folder, "its root gives none of these keys the timestamps",
                "engine-manifest sign --add-timestamp-key FILE, with a --key that may sign the root"));
  const fs::path file = folder / timestamp_file;
  manifest::Timestamp timestamp;
  if (const auto before = read_file(file, 1u << 20))
    if (const auto document = parse_json(*before, path_text(file)))
      if (const auto known = manifest::read_timestamp(*document, path_text(file)))
        timestamp.version = known->version;
  TRY_ASSIGN(const std::string index_bytes, read_file(folder / "index.json", 8u << 20));
  TRY_ASSIGN(const Json index_document, parse_json(index_bytes, "index.json"));
  TRY_ASSIGN(const manifest::Index index, manifest::read_index(index_document, "index.json"));
  timestamp.name = root.name;
  // Above every version before, also if the last one was lost.
  timestamp.version = std::max(timestamp.version + 1, now);
  timestamp.created = text_of_time(now);
  timestamp.expires = text_of_time(now + hours * 3600);
  timestamp.index_serial = index.serial;
  timestamp.index_sha256 = sha256_hex(index_bytes);
  const std::string bytes = to_json(timestamp).dump(1) + "\n";
  Stamped stamped{timestamp.version, timestamp.expires, {}};
  std::vector<std::pair<fs::path, std::string>> signatures;
  for (const SecretKey* key : signers) {
    TRY_ASSIGN(const manifest::Signature signature,
               key->sign(bytes, manifest::Statement{Role::timestamp, timestamp.version, now}.text()));
    const std::string& id = key->public_key().id;
    signatures.emplace_back(folder / path_of(std::string(timestamp_file) + "." + id + ".minisig"),
                            write_signature(signature, "signature from engine-manifest"));
    stamped.documents.push_back(std::string(timestamp_file) + " by " + id);
  }
  // Removing the other signatures first would leave the folder without any for longer than the two writes
  // take.
  TRY(write_file(file, bytes));
  for (const auto& [place, text] : signatures) TRY(write_file(place, text));
  TRY_ASSIGN(const std::vector<fs::path> present, signatures_of(file));
  std::error_code error;
  for (const fs::path& signature : present)
    if (std::ranges::find(signatures, signature, &std::pair<fs::path, std::string>::first) ==
        signatures.end())
      fs::remove(signature, error);
  return stamped;
}

// Admits one writer of timestamps at a time, and no command that replaces the folder or its index meanwhile.
Result<cache::FileLock> lock_for_stamp(const fs::path& folder) {
  TRY_ASSIGN(const bool is_workspace, is_there(folder / "repository.json"));
  std::error_code error;
  const fs::path published = fs::canonical(folder, error);
  if (error)
    return fail(
        diagnose_errno(Code::folder_not_writable, error.value()).with(Key::folder, path_text(folder)));
  return cache::FileLock::exclusive(is_workspace ? folder / ".lock" : lock_of_published(published),
                                    "engine-manifest sign");
}

}  // namespace

Result<Stamped> stamp(const fs::path& folder, const std::vector<SecretKey>& keys, std::int64_t hours,
                      std::int64_t now) {
  TRY_ASSIGN(const bool has_root, is_there(folder / "root.json"));
  if (!has_root)
    return fail(
        refusal(folder, "it has no root.json, so nobody signed it", "engine-manifest sign with --key first"));
  const auto lock = lock_for_stamp(folder);
  // The lock lies beside a published folder, where the job that stamps may not be allowed to write.
  if (!lock && lock.error().code != Code::folder_not_writable) return fail(lock.error());
  return stamp_locked(folder, keys, hours, now);
}

Result<std::int64_t> timestamp_version(const fs::path& folder, const std::optional<Root>& root) {
  if (!root || root->timestamp_keys.empty()) return 0;
  TRY_ASSIGN(const bool there, is_there(folder / timestamp_file));
  if (!there) return 0;
  TRY_ASSIGN(const std::string bytes, read_file(folder / timestamp_file, 1u << 20));
  manifest::FolderReader reader;
  manifest::RepositoryFiles files(path_text(folder), reader);
  const auto signed_by = check_signatures(
      files, timestamp_file, bytes,
      {Role::timestamp, root->keys_for(Role::timestamp), root->timestamp_threshold, root->revoked});
  return signed_by ? signed_by->statement.version : 0;
}

Result<Signed> sign(const Workspace& workspace, const std::vector<SecretKey>& keys, const RootChange& change,
                    std::int64_t now) {
  TRY_ASSIGN(const cache::FileLock lock, workspace.lock("engine-manifest sign"));
  TRY_ASSIGN(const NextRoot next, root_to_sign(workspace, keys, change, now));
  const Root& root = next.root;
  // Checks all refusals before a new root is written, because the next signer would sign it without having
  // requested it.
  for (const SecretKey& key : keys) TRY(check_key(workspace, next, key.public_key()));
  TRY(workspace.prepare(now).map([](bool) {}));
  if (next.without_copy != 0) TRY(make_copy(workspace, next.without_copy));
  if (next.is_new) TRY(write_root(workspace, root));
  TRY_ASSIGN(const std::optional<manifest::Index> index, workspace.index());
  if (!index) return fail(refusal(workspace, "its index.json was removed meanwhile", "run it again"));
  Signed result;
  result.root_version = root.version;
  result.serial = index->serial;
  for (const SecretKey& key : keys) {
    const manifest::PublicKey& id = key.public_key();
    if (may_sign_root(next, id))
      for (const fs::path& place : {workspace.folder() / "root.json", numbered(workspace, root.version)}) {
        TRY_ASSIGN(const bool done, sign_file(place, key, {Role::root, root.version, now}));
        if (done && place.filename() == "root.json") result.documents.push_back("root.json by " + id.id);
      }
    if (lists(root, id, Role::index)) {
      TRY_ASSIGN(const bool done,
                 sign_file(workspace.folder() / "index.json", key, {Role::index, index->serial, now}));
      if (done) result.documents.push_back("index.json by " + id.id);
    }
  }
  if (std::ranges::any_of(
          keys, [&](const SecretKey& key) { return lists(root, key.public_key(), Role::timestamp); })) {
    TRY_ASSIGN(const Stamped stamped, stamp_locked(workspace.folder(), keys, usual_timestamp_hours, now));
    result.documents.insert(result.documents.end(), stamped.documents.begin(), stamped.documents.end());
  }
  TRY_ASSIGN(const std::vector<Diagnosis> missing, missing_signatures(workspace));
  for (const Diagnosis& one : missing)
    result.missing.push_back(path_text(path_of(std::string(one.value(Key::document))).filename()) + " has " +
                             std::string(one.value(Key::found)) + " of " +
                             std::string(one.value(Key::expected)) + " signatures");
  return result;
}

}  // namespace enginehost::publish
