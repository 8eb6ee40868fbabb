#include "host/manifest/trust/signed_repository.hpp"

#include <algorithm>

#include "base/sha256.hpp"
#include "host/manifest/repository.hpp"

namespace enginehost::manifest {
namespace {

constexpr std::int64_t most_steps = 100;  // roots in between
// How far the serial of an index may be above the last one. More than any numbering by count, date or second
// needs, and so little that a keeper whose key was stolen can always go on above it.
constexpr std::int64_t most_serials = std::int64_t{1} << 32;

bool is_missing(const Diagnosis& failure) {
  // A file that exists but cannot be used (too long, a pipe) is not missing.
  if (failure.code == Code::file_not_readable)
    return failure.value(Key::errno_) == "ENOENT" ||
           (failure.value(Key::errno_).empty() && failure.value(Key::limit).empty() &&
            failure.value(Key::problem).empty());
  // Some storage services return 403 for a missing file.
  return failure.code == Code::server_refuses &&
         (failure.value(Key::status) == "404" || failure.value(Key::status) == "403" ||
          failure.value(Key::status) == "410");
}

Diagnosis about(Code code, RepositoryFiles& files, const std::string& path) {
  return diagnose(code).with(Key::document, files.name_of(path)).with(Key::repository, files.known_as());
}

Signers signers_of(const Root& root, Role role) {
  return {role, root.keys_for(role), root.threshold_for(role), root.revoked};
}

std::string path_of_signature(const std::string& path, const PublicKey& key) {
  return path + "." + key.id + ".minisig";
}

void add_signatures(std::vector<std::string>& paths, const std::string& path,
                    const std::vector<PublicKey>& keys) {
  for (const PublicKey& key : keys) paths.push_back(path_of_signature(path, key));
}

// Adds what is read after the root. Folders have no use for a timestamp, and no server is asked offline.
void add_documents_of(std::vector<std::string>& paths, const Root& root) {
  paths.push_back("index.json");
  add_signatures(paths, "index.json", root.keys_for(Role::index));
  const std::vector<PublicKey> keys = root.keys_for(Role::timestamp);
  if (keys.empty()) return;
  paths.push_back("timestamp.json");
  add_signatures(paths, "timestamp.json", keys);
}

// Checks one signature against its key and returns its statement, or the failure.
Result<Statement> judge(RepositoryFiles& files, const std::string& path, const std::string& bytes,
                        const PublicKey& key, Role role, const std::string& text,
                        const std::string& signature_path) {
  const auto wrong = [&](std::string_view problem) {
    return fail(about(Code::signature_wrong, files, path)
                    .with(Key::signature, files.name_of(signature_path))
                    .with(Key::key_id, key.id)
                    .with(Key::problem, problem));
  };
  const auto signature = read_signature(text, signature_path);
  if (!signature) return wrong(signature.error().value(Key::problem));
  if (const std::string problem = problem_of(*signature, key, bytes); !problem.empty()) return wrong(problem);
  const auto statement = read_statement(signature->trusted_comment);
  if (!statement) return wrong("its trusted comment does not say role, version and time");
  if (statement->role != role)
    return wrong("it is a signature of " + std::string(name_of(statement->role)) + ".json");
  return *statement;
}

Result<std::optional<std::string>> signed_by_revoked(RepositoryFiles& files, const std::string& path,
                                                     const Signers& signers) {
  for (const std::string& id : signers.revoked) {
    TRY_ASSIGN(const auto text, files.find(path + "." + id + ".minisig"));
    if (text) return std::optional(id);
  }
  return std::nullopt;
}

Result<Root> parse_root(const std::string& bytes, const std::string& name) {
  TRY_ASSIGN(const Json document, parse_json(bytes, name));
  return read_root(document, name);
}

// The signers in place of a previous root: any one key that was trusted by hand, or as many of the
// repository's own keys as the user asked for.
Signers bootstrap(const std::vector<TrustedKey>& keys) {
  Signers signers;
  signers.role = Role::root;
  for (const TrustedKey& key : keys) signers.threshold = std::max(signers.threshold, key.threshold);
  // The check stops at the threshold, so the keys that are limited to some engines come last.
  for (const bool limited : {false, true})
    for (const TrustedKey& key : keys)
      if (key.engines.empty() != limited && (signers.threshold == 1 || !key.repository.empty()) &&
          std::ranges::find(signers.keys, key.key) == signers.keys.end())
        signers.keys.push_back(key.key);
  return signers;
}

bool signed_first_root(const TrustedKey& key, const Seen& seen) {
  return std::ranges::find(seen.trusted_by, key.key.id) != seen.trusted_by.end();
}

// The index's floor starts over: its keys may have been stolen, and the thief could have set it
// (trust_store.hpp).
void start_over_without_removed_keys(Seen& seen, const std::optional<Root>& before, const Root& now) {
  std::vector<std::string> could_set = seen.index_signers;
  if (before)
    for (const Role role : {Role::index, Role::timestamp})
      for (const PublicKey& key : before->keys_for(role)) could_set.push_back(key.id);
  std::vector<PublicKey> keys = now.keys_for(Role::index);
  for (const PublicKey& key : now.keys_for(Role::timestamp)) keys.push_back(key);
  const bool all_remain = std::ranges::all_of(could_set, [&](const std::string& id) {
    return std::ranges::any_of(keys, [&](const PublicKey& key) { return key.id == id; });
  });
  if (all_remain) return;
  seen.index_version = seen.timestamp_version = seen.time = 0;
  seen.index_sha256.clear();
  seen.index_signers.clear();
  seen.floor_since = now.version;
}

// Returns the root in root.json, reached from `before` directly or through the roots in between.
Result<Root> follow(RepositoryFiles& files, const std::string& bytes, Signers before, std::int64_t version) {
  auto direct = step_to(files, "root.json", bytes, before, version);
  // A replay stays a failure, whichever key signed it.
  if (direct || direct.error().code == Code::older_than_seen) return direct;
  for (std::int64_t next = version + 1; next <= version + most_steps; ++next) {
    const std::string path = "roots/" + std::to_string(next) + ".json";
    TRY_ASSIGN(const auto between, files.find(path));
    if (!between) break;
    auto root = step_to(files, path, *between, before, next - 1);
    if (!root) break;
    if (*between == bytes) return root;
    before = signers_of(*root, Role::root);
  }
  return direct;
}

// Returns the ids of the trusted keys that signed root.json, or the first of the roots that led to it.
Result<std::vector<std::string>> signers_of_first_root(RepositoryFiles& files, const std::string& bytes,
                                                       const Signers& trusted) {
  auto direct = check_signatures(files, "root.json", bytes, trusted);
  if (direct) return std::move(direct->key_ids);
  constexpr const char* first = "roots/1.json";
  TRY_ASSIGN(const auto first_bytes, files.find(first));
  if (!first_bytes) return fail(std::move(direct).error());
  TRY_ASSIGN(SignedBy by, check_signatures(files, first, *first_bytes, trusted));
  return std::move(by.key_ids);
}

}  // namespace

std::string RepositoryFiles::name_of(const std::string& path) const { return below(location_, path); }

void RepositoryFiles::expect(const std::vector<std::string>& paths) {
  std::vector<Expected> unknown;
  for (const std::string& path : paths)
    if (!known_.contains(path)) unknown.push_back({name_of(path)});
  reader_.expect(unknown);
}

Result<std::optional<std::string>> RepositoryFiles::find(const std::string& path) {
  if (const auto known = known_.find(path); known != known_.end()) return known->second;
  auto bytes = reader_.read(name_of(path), largest_document);
  if (!bytes && !is_missing(bytes.error())) return fail(std::move(bytes).error());
  return known_.emplace(path, bytes ? std::optional(std::move(*bytes)) : std::nullopt).first->second;
}

Result<SignedBy> check_signatures(RepositoryFiles& files, const std::string& path, const std::string& bytes,
                                  const Signers& signers) {
  std::vector<std::pair<Statement, std::vector<std::string>>> groups;
  std::optional<Diagnosis> wrong;
  for (const PublicKey& key : signers.keys) {
    const std::string signature_path = path_of_signature(path, key);
    TRY_ASSIGN(const auto text, files.find(signature_path));
    if (!text) continue;
    auto statement = judge(files, path, bytes, key, signers.role, *text, signature_path);
    if (!statement) {
      if (!wrong) wrong = std::move(statement).error();
      continue;
    }
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& known) { return known.first.version == statement->version; });
    if (group == groups.end()) group = groups.insert(groups.end(), {*statement, {}});
    // The earliest of them: one key of several must not decide what time it is.
    group->first.time = std::min(group->first.time, statement->time);
    group->second.push_back(key.id);
    if (static_cast<std::int64_t>(group->second.size()) >= signers.threshold)
      return SignedBy{group->second, group->first};
  }
  if (wrong) return fail(std::move(*wrong));
  TRY_ASSIGN(const auto revoked, signed_by_revoked(files, path, signers));
  if (revoked) return fail(about(Code::key_revoked, files, path).with(Key::key_id, *revoked));
  Diagnosis missing = about(groups.empty() ? Code::key_not_trusted : Code::too_few_signatures, files, path);
  std::size_t found = 0;
  for (const auto& group : groups) found = std::max(found, group.second.size());
  missing.with(Key::expected, std::to_string(signers.threshold)).with(Key::found, std::to_string(found));
  for (const PublicKey& key : signers.keys) missing.with(Key::key_id, key.id);
  return fail(std::move(missing));
}

Result<Root> step_to(RepositoryFiles& files, const std::string& path, const std::string& bytes,
                     const Signers& before, std::int64_t version) {
  TRY_ASSIGN(const SignedBy by, check_signatures(files, path, bytes, before));
  TRY_ASSIGN(Root root, parse_root(bytes, files.name_of(path)));
  if (root.version != by.statement.version)
    return fail(about(Code::signature_wrong, files, path)
                    .with(Key::problem, "its version is " + std::to_string(root.version) + ", signed was " +
                                            std::to_string(by.statement.version)));
  if (root.version <= version)
    return fail(about(Code::older_than_seen, files, path)
                    .with(Key::found, std::to_string(root.version))
                    .with(Key::expected, std::to_string(version + 1)));
  TRY(check_signatures(files, path, bytes, signers_of(root, Role::root)).map([](const auto&) {}));
  return root;
}

Result<std::optional<VerifiedIndex>> open_signed(RepositoryFiles& files, const TrustStore& store,
                                                 bool required) {
  TRY_ASSIGN(const std::vector<TrustedKey> keys, store.keys_for(files.known_as()));
  VerifiedIndex verified;
  TRY_ASSIGN(verified.seen, store.seen(files.known_as()));
  // A repository that was seen signed, or for which a key was trusted, is not accepted unsigned.
  const bool known_as_signed =
      !verified.seen.root.empty() ||
      std::any_of(keys.begin(), keys.end(), [](const TrustedKey& key) { return !key.repository.empty(); });
  required = required || known_as_signed;
  if (!verified.seen.trusted_by.empty() && std::ranges::none_of(keys, [&](const TrustedKey& key) {
        return signed_first_root(key, verified.seen);
      }))
    verified.seen.root.clear();
  if (!required && keys.empty()) return std::nullopt;

  std::optional<Root> before;
  std::vector<std::string> expected = {"root.json"};
  if (!verified.seen.root.empty()) {
    TRY_ASSIGN(before, parse_root(verified.seen.root, "the accepted root of " + files.location()));
    add_documents_of(expected, *before);
  } else {
    expected.push_back("index.json");
    add_signatures(expected, "root.json", bootstrap(keys).keys);
  }
  files.expect(expected);
  const auto root_bytes = files.find("root.json");
  if (!required && (!root_bytes || !*root_bytes)) return std::nullopt;
  if (!root_bytes) return fail(root_bytes.error());
  if (!*root_bytes)
    return fail(about(keys.empty() ? Code::key_not_trusted : Code::too_few_signatures, files, "root.json")
                    .with(Key::expected, "1")
                    .with(Key::found, "0"));
  if (before && **root_bytes == verified.seen.root) {
    verified.root = *before;
  } else if (before) {
    TRY_ASSIGN(verified.root, follow(files, **root_bytes, signers_of(*before, Role::root), before->version));
    start_over_without_removed_keys(verified.seen, before, verified.root);
  } else {
    // At first the version does not count, but a root that was removed with its key leaves its version as a
    // floor.
    const Signers first = bootstrap(keys);
    auto root = follow(files, **root_bytes, first, 0);
    // The publisher cannot help where this user trusts fewer keys than the user asked for.
    if (!root && root.error().code == Code::too_few_signatures &&
        static_cast<std::int64_t>(first.keys.size()) < first.threshold)
      root.error().with(Key::remedy,
                        "trust the publisher's other keys, too: engine-cache trust add KEY --repository " +
                            files.known_as() + " --threshold " + std::to_string(first.threshold));
    TRY_ASSIGN(verified.root, std::move(root));
    TRY_ASSIGN(verified.seen.trusted_by, signers_of_first_root(files, **root_bytes, first));
    if (verified.root.version < verified.seen.root_version)
      return fail(about(Code::older_than_seen, files, "root.json")
                      .with(Key::found, std::to_string(verified.root.version))
                      .with(Key::expected, std::to_string(verified.seen.root_version)));
    // Through the roots in between, a key can lead to a root that has revoked it.
    if (!keys.empty() && std::all_of(keys.begin(), keys.end(), [&](const TrustedKey& key) {
          return verified.root.is_revoked(key.key.id);
        }))
      return fail(about(Code::key_revoked, files, "root.json").with(Key::key_id, keys.front().key.id));
    start_over_without_removed_keys(verified.seen, std::nullopt, verified.root);
  }
  verified.engines = engines_of(keys, verified.seen);
  verified.seen.root = **root_bytes;
  verified.seen.root_version = verified.root.version;
  expected.clear();
  add_documents_of(expected, verified.root);
  files.expect(expected);

  TRY_ASSIGN(auto index, files.find("index.json"));
  if (!index)
    return fail(diagnose(Code::repository_unusable)
                    .with(Key::repository, files.known_as())
                    .with(Key::problem, "it has a root.json and no index.json"));
  verified.bytes = std::move(*index);
  TRY_ASSIGN(verified.signed_by,
             check_signatures(files, "index.json", verified.bytes, signers_of(verified.root, Role::index)));
  return std::optional(std::move(verified));
}

Result<void> check_index(const Index& index, const std::string& repository, VerifiedIndex& verified) {
  const auto refuse = [&](Code code) {
    return diagnose(code)
        .with(Key::document, below(repository, "index.json"))
        .with(Key::repository, repository);
  };
  if (index.serial != verified.signed_by.statement.version)
    return fail(refuse(Code::signature_wrong)
                    .with(Key::problem, "its serial is " + std::to_string(index.serial) + ", signed was " +
                                            std::to_string(verified.signed_by.statement.version)));
  if (index.name != verified.root.name)
    return fail(refuse(Code::signature_wrong)
                    .with(Key::problem, "it is the index of \"" + index.name + "\", the root is that of \"" +
                                            verified.root.name + "\""));
  if (const auto end = seconds_of_time(index.expires); end && verified.signed_by.statement.time > *end)
    return fail(refuse(Code::signature_wrong)
                    .with(Key::problem, "it was signed at second " +
                                            std::to_string(verified.signed_by.statement.time) +
                                            " of 1970, which is after it expires (" + index.expires + ")"));
  Seen& seen = verified.seen;
  const std::string digest = sha256_hex(verified.bytes);
  if (index.serial < seen.index_version)
    return fail(refuse(Code::older_than_seen)
                    .with(Key::found, std::to_string(index.serial))
                    .with(Key::expected, std::to_string(seen.index_version)));
  if (index.serial == seen.index_version && !seen.index_sha256.empty() && digest != seen.index_sha256)
    return fail(refuse(Code::older_than_seen)
                    .with(Key::found, std::to_string(index.serial))
                    .with(Key::expected, std::to_string(seen.index_version + 1))
                    .with(Key::problem, "another index with this serial was seen before"));
  if (seen.index_version > 0 && index.serial - seen.index_version > most_serials)
    return fail(refuse(Code::older_than_seen)
                    .with(Key::found, std::to_string(index.serial))
                    .with(Key::expected, "at most " + std::to_string(seen.index_version + most_serials))
                    .with(Key::problem,
                          "its serial is too far above the last one, " + std::to_string(seen.index_version)));
  seen.index_version = index.serial;
  seen.index_signers = verified.signed_by.key_ids;
  seen.index_sha256 = digest;
  seen.time = std::max(seen.time, verified.signed_by.statement.time);
  seen.blocked = index.blocked;
  for (Blocked& one : seen.blocked) one.engines = verified.engines;
  return {};
}

Result<std::optional<std::string>> check_timestamp(RepositoryFiles& files, const Index& index,
                                                   VerifiedIndex& verified) {
  constexpr const char* path = "timestamp.json";
  const Signers signers = signers_of(verified.root, Role::timestamp);
  if (signers.keys.empty() || !is_url(files.location())) return std::optional<std::string>();
  TRY_ASSIGN(const auto bytes, files.find(path));
  if (!bytes)
    return fail(about(Code::too_few_signatures, files, path)
                    .with(Key::expected, std::to_string(signers.threshold))
                    .with(Key::found, "0"));
  TRY_ASSIGN(const SignedBy by, check_signatures(files, path, *bytes, signers));
  TRY_ASSIGN(const Json document, parse_json(*bytes, files.name_of(path)));
  TRY_ASSIGN(Timestamp timestamp, read_timestamp(document, files.name_of(path)));
  if (timestamp.version != by.statement.version || timestamp.name != verified.root.name)
    return fail(about(Code::signature_wrong, files, path)
                    .with(Key::problem, "it is version " + std::to_string(timestamp.version) + " of \"" +
                                            timestamp.name + "\", signed was version " +
                                            std::to_string(by.statement.version) + " of \"" +
                                            verified.root.name + "\""));
  Seen& seen = verified.seen;
  if (timestamp.version < seen.timestamp_version)
    return fail(about(Code::older_than_seen, files, path)
                    .with(Key::found, std::to_string(timestamp.version))
                    .with(Key::expected, std::to_string(seen.timestamp_version)));
  if (timestamp.version - seen.timestamp_version > most_serials && seen.timestamp_version > 0)
    return fail(about(Code::older_than_seen, files, path)
                    .with(Key::found, std::to_string(timestamp.version))
                    .with(Key::problem, "its version is too far above the last one, " +
                                            std::to_string(seen.timestamp_version)));
  if (timestamp.index_serial > index.serial ||
      (timestamp.index_serial == index.serial && timestamp.index_sha256 != sha256_hex(verified.bytes)))
    return fail(about(Code::older_than_seen, files, "index.json")
                    .with(Key::found, std::to_string(index.serial))
                    .with(Key::expected, std::to_string(timestamp.index_serial))
                    .with(Key::problem, "timestamp.json says that version " +
                                            std::to_string(timestamp.index_serial) +
                                            " with other bytes is the present one"));
  seen.timestamp_version = timestamp.version;
  return std::optional(std::move(timestamp.expires));
}

std::optional<std::string> expired(const Index& index, const VerifiedIndex& verified, std::int64_t now) {
  const std::int64_t moment = std::max(now, verified.seen.time);
  for (const std::string* date : {&index.expires, &verified.root.expires})
    if (const auto end = seconds_of_time(*date); end && *end < moment) return *date;
  return std::nullopt;
}

}  // namespace enginehost::manifest
