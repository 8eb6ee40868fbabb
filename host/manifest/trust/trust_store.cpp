#include "host/manifest/trust/trust_store.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <system_error>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/location.hpp"
#include "base/ownership.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "cache/layer_trust.hpp"
#include "cache/lock.hpp"
#include "host/manifest/fields.hpp"
#include "host/manifest/trust/root.hpp"

namespace enginehost::manifest {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t largest_file = 16u << 20;
constexpr std::int64_t largest_number = std::numeric_limits<std::int64_t>::max();

// Returns nothing when the file is missing.
Result<std::optional<Json>> document_of(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error) && !error) return std::nullopt;
  TRY_ASSIGN(const std::string text, read_file(file, largest_file));
  return parse_json(text, path_text(file), {largest_file, 16}).map([](Json&& json) {
    return std::optional(std::move(json));
  });
}

Result<std::vector<TrustedKey>> keys_of(const fs::path& file, bool own) {
  std::vector<TrustedKey> keys;
  TRY_ASSIGN(const std::optional<Json> document, document_of(file));
  if (!document) return keys;
  Reading reading{path_text(file), {}, {}};
  Fields fields(reading, *document, "");
  std::int64_t format = 0;
  fields.number("format", Need::required, 1, 1, format);
  if (const Json* list = fields.array("keys", Need::required))
    for (const Json& object : list->as_array()) {
      TrustedKey key;
      key.file = file;
      key.own = own;
      std::string text;
      Fields members(reading, object, "keys[" + std::to_string(keys.size()) + "]");
      members.text("public", Need::required, is_text, text);
      members.text("repository", Need::optional, is_text, key.repository);
      members.text("added", Need::optional, is_time, key.added);
      members.texts("engines", Need::optional, is_text, key.engines);
      members.number("threshold", Need::optional, 1, most_root_keys, key.threshold);
      if (reading.mistake) break;
      TRY_ASSIGN(key.key, read_public_key(text, path_text(file)));
      keys.push_back(std::move(key));
    }
  if (reading.mistake) return fail(std::move(*reading.mistake));
  return keys;
}

Result<Seen> seen_of(const fs::path& file, const std::string& repository) {
  Seen seen;
  TRY_ASSIGN(const std::optional<Json> document, document_of(file));
  if (!document) return seen;
  Reading reading{path_text(file), {}, {}};
  Fields fields(reading, *document, "");
  std::int64_t format = 0;
  fields.number("format", Need::required, 1, 1, format);
  fields.text("root", Need::optional, is_text, seen.root);
  fields.number("root_version", Need::required, 0, largest_number, seen.root_version);
  fields.number("index_version", Need::required, 0, largest_number, seen.index_version);
  fields.text("index_sha256", Need::optional, is_digest, seen.index_sha256);
  fields.number("time", Need::required, 0, largest_number, seen.time);
  fields.number("timestamp_version", Need::optional, 0, largest_number, seen.timestamp_version);
  fields.number("floor_since", Need::optional, 0, largest_number, seen.floor_since);
  fields.texts("index_signers", Need::optional, is_key_id, seen.index_signers);
  fields.texts("trusted_by", Need::optional, is_key_id, seen.trusted_by);
  // An older version does not write them.
  std::vector<std::string> engines;
  fields.texts("blocked_engines", Need::optional, is_text, engines);
  if (const Json* blocked = fields.array("blocked", Need::required))
    for (const Json& object : blocked->as_array())
      seen.blocked.push_back(
          {object["sha256"].as_string(), object["reason"].as_string(), repository, true, {}, engines});
  if (reading.mistake) return fail(std::move(*reading.mistake));
  return seen;
}

// Newer values win; a root stays until there is a newer one.
void take_newer(Seen& seen, Seen other) {
  if (other.root_version > seen.root_version ||
      (seen.root.empty() && !other.root.empty() && other.root_version == seen.root_version)) {
    seen.root = std::move(other.root);
    seen.root_version = other.root_version;
    seen.trusted_by = std::move(other.trusted_by);
  }
  // A floor that started over is newer than any version before.
  if (other.floor_since < seen.floor_since) return;
  const bool started_over = other.floor_since > seen.floor_since;
  const std::int64_t time = started_over ? other.time : std::max(seen.time, other.time);
  if (started_over || other.index_version > seen.index_version) {
    seen.index_version = other.index_version;
    seen.index_sha256 = std::move(other.index_sha256);
    seen.index_signers = std::move(other.index_signers);
    seen.floor_since = other.floor_since;
    seen.blocked = std::move(other.blocked);
  }
  seen.timestamp_version =
      started_over ? other.timestamp_version : std::max(seen.timestamp_version, other.timestamp_version);
  seen.time = time;
}

Json to_json(const Seen& seen, const std::string& repository) {
  Json blocked = Json::array();
  for (const Blocked& one : seen.blocked)
    blocked.push(Json::object().set("sha256", one.sha256).set("reason", one.reason));
  Json document = Json::object();
  document.set("format", 1).set("repository", without_passwords(repository));
  if (!seen.root.empty()) document.set("root", seen.root);
  document.set("root_version", seen.root_version).set("index_version", seen.index_version);
  if (!seen.index_sha256.empty()) document.set("index_sha256", seen.index_sha256);
  if (seen.timestamp_version > 0) document.set("timestamp_version", seen.timestamp_version);
  if (seen.floor_since > 0) document.set("floor_since", seen.floor_since);
  if (!seen.trusted_by.empty()) document.set("trusted_by", Json::strings(seen.trusted_by));
  if (!seen.index_signers.empty()) document.set("index_signers", Json::strings(seen.index_signers));
  if (!seen.blocked.empty() && !seen.blocked.front().engines.empty())
    document.set("blocked_engines", Json::strings(seen.blocked.front().engines));
  return document.set("time", seen.time).set("blocked", std::move(blocked));
}

bool is_for_place(const TrustedKey& key, const std::string& place) {
  return !key.repository.empty() && identity_of_location(key.repository) == place;
}

// Returns the keys that may speak for a place: those of the place, and those of every place. Where there are
// some of the place, those of every place that are limited to some engines do not count.
std::vector<TrustedKey> keys_for_place(std::vector<TrustedKey> all, const std::string& place) {
  const bool has_own =
      std::ranges::any_of(all, [&](const TrustedKey& key) { return is_for_place(key, place); });
  std::erase_if(all, [&](const TrustedKey& key) {
    return key.repository.empty() ? has_own && !key.engines.empty() : !is_for_place(key, place);
  });
  return all;
}

// Returns true if keys that are trusted, but not for this place, signed its first root.
bool is_of_other_keys(const Seen& seen, const std::string& place, const std::vector<TrustedKey>& all) {
  const auto signed_by_one_of = [&](const std::vector<TrustedKey>& keys) {
    return std::ranges::any_of(keys, [&](const TrustedKey& key) {
      return std::ranges::find(seen.trusted_by, key.key.id) != seen.trusted_by.end();
    });
  };
  return signed_by_one_of(all) && !signed_by_one_of(keys_for_place(all, place));
}

std::string name_for(const std::string& place) { return sha256_hex(place).substr(0, 32) + ".json"; }

fs::path file_for(const fs::path& folder, const std::string& repository) {
  return folder / path_of(name_for(identity_of_location(repository)));
}

// Returns the files that hold the state of some repository.
std::vector<fs::path> state_files(const fs::path& folder) {
  std::error_code ignored;
  std::vector<fs::path> files = entries_of(folder, ignored);
  std::erase_if(files, [](const fs::path& file) {
    return file.extension() != ".json" || file.filename() == "keys.json";
  });
  return files;
}

// Returns the files that may hold a repository's state, existing or not. All but the last are from versions
// that treated every spelling of a location as a separate repository; their versions are still a floor.
std::vector<fs::path> files_for(const fs::path& folder, const std::string& repository) {
  const std::string place = identity_of_location(repository);
  const fs::path newest = file_for(folder, repository);
  std::vector<fs::path> files = {folder / path_of(name_for(place + "/"))};
  for (const fs::path& file : state_files(folder)) {
    if (file == newest || file == files.front()) continue;
    // An unreadable file may as well belong to another repository.
    const auto document = document_of(file);
    if (document && *document && identity_of_location((**document)["repository"].as_string()) == place)
      files.push_back(file);
  }
  files.push_back(newest);
  return files;
}

// Admits one writer at a time.
Result<cache::FileLock> lock_of(const fs::path& folder) {
  if (folder.empty())
    return fail(
        diagnose(Code::folder_not_writable)
            .with(Key::place, "state")
            .with(Key::problem, "neither the cache nor this user's folder for states can be written"));
  auto lock =
      make_folders(folder).and_then([&] { return cache::FileLock::exclusive(folder / "lock", "trust"); });
  if (!lock && lock.error().code == Code::folder_not_writable) lock.error().with(Key::place, "state");
  return lock;
}

Result<void> write_keys(const fs::path& folder, const std::vector<TrustedKey>& keys) {
  Json list = Json::array();
  for (const TrustedKey& key : keys) {
    Json one = Json::object().set("public", key.key.text());
    if (!key.repository.empty()) one.set("repository", key.repository);
    if (!key.added.empty()) one.set("added", key.added);
    if (!key.engines.empty()) one.set("engines", Json::strings(key.engines));
    if (key.threshold > 1) one.set("threshold", key.threshold);
    list.push(std::move(one));
  }
  return write_file(folder / "keys.json",
                    Json::object().set("format", 1).set("keys", std::move(list)).dump(1) + "\n");
}

bool lists_key(const std::string& root, const PublicKey& key) {
  const auto document = parse_json(root, "root");
  if (!document) return true;
  const auto& keys = (*document)["keys"].as_array();
  return std::any_of(keys.begin(), keys.end(),
                     [&](const Json& one) { return one["public"].as_string() == key.text(); });
}

// Returns why somebody else could have written what is read below a state folder.
std::optional<Diagnosis> problem_of(const fs::path& state) {
  for (const fs::path& folder : {state, state / "trust"})
    if (auto problem =
            who_may_change(folder, Purpose::belief, {.above = state.parent_path(), .sdk = {}}).problem)
      return problem;
  std::error_code error;
  for (fs::directory_iterator at(state / "trust", error), end; !error && at != end; at.increment(error))
    if (auto problem =
            who_may_change(at->path(), Purpose::belief, {.above = state / "trust", .sdk = {}}).problem)
      return problem;
  return {};
}

}  // namespace

std::vector<std::string> engines_of(std::vector<TrustedKey> keys, const Seen& seen) {
  if (!seen.trusted_by.empty())
    std::erase_if(keys, [&](const TrustedKey& key) {
      return std::ranges::find(seen.trusted_by, key.key.id) == seen.trusted_by.end();
    });
  if (std::ranges::any_of(keys, [](const TrustedKey& key) { return !key.repository.empty(); }))
    std::erase_if(keys, [](const TrustedKey& key) { return key.repository.empty(); });
  std::vector<std::string> engines;
  for (const TrustedKey& key : keys) {
    if (key.engines.empty()) return {};
    engines.insert(engines.end(), key.engines.begin(), key.engines.end());
  }
  return engines;
}

TrustStore::TrustStore(fs::path state, std::vector<fs::path> layers, fs::path read_state)
    : folder_(state.empty() ? fs::path() : std::move(state) / "trust"),
      read_folder_(read_state.empty() ? fs::path() : std::move(read_state) / "trust"),
      layers_(std::move(layers)) {}

std::vector<fs::path> TrustStore::folders_of_layers(std::vector<std::string>& unreadable) const {
  std::vector<fs::path> folders;
  const auto refused = [&](const fs::path& folder, const std::optional<Diagnosis>& problem) {
    if (problem)
      unreadable.push_back("the trusted keys in " + path_text(folder) +
                           " do not count: " + reason_of(*problem));
    return problem.has_value();
  };
  const auto report = [&](const fs::path& folder, const std::error_code& error) {
    if (!error || error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory)
      return;
    unreadable.push_back("the trusted keys in " + path_text(folder) +
                         " do not count because the folder cannot be read (" + error.message() +
                         "); its owner can open it with chmod -R a+rX");
  };
  for (const fs::path& layer : layers_) {
    std::error_code error;
    auto problem = cache::layer_problem(layer);
    if (!problem)
      problem = who_may_change(layer / "state", Purpose::belief, {.above = layer, .sdk = {}}).problem;
    if (refused(layer / "state", problem)) continue;
    for (fs::directory_iterator at(layer / "state", error), end; !error && at != end; at.increment(error)) {
      if (refused(at->path(), problem_of(at->path()))) continue;
      std::error_code closed, ignored;
      const fs::path folder = at->path() / "trust";
      static_cast<void>(fs::directory_iterator(folder, closed));
      report(at->path(), closed);
      if (fs::is_directory(folder, ignored)) folders.push_back(folder);
    }
    report(layer / "state", error);
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::vector<fs::path> TrustStore::all_folders() const {
  std::vector<std::string> unreadable;
  std::vector<fs::path> folders = folders_of_layers(unreadable);
  for (const fs::path* first : {&read_folder_, &folder_})
    if (!first->empty()) folders.insert(folders.begin(), *first);
  return folders;
}

std::vector<std::string> TrustStore::unreadable() const {
  std::vector<std::string> sentences;
  static_cast<void>(folders_of_layers(sentences));
  return sentences;
}

Result<std::vector<TrustedKey>> TrustStore::keys() const {
  std::vector<TrustedKey> all;
  for (const fs::path& folder : all_folders()) {
    TRY_ASSIGN(const std::vector<TrustedKey> more, keys_of(folder / "keys.json", folder == folder_));
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

Result<std::vector<TrustedKey>> TrustStore::keys_for(const std::string& repository) const {
  TRY_ASSIGN(std::vector<TrustedKey> all, keys());
  return keys_for_place(std::move(all), identity_of_location(repository));
}

Result<void> TrustStore::add(TrustedKey key) const {
  key.repository = without_passwords(plain_location(key.repository));
  TRY_ASSIGN(const cache::FileLock lock, lock_of(folder_));
  TRY_ASSIGN(std::vector<TrustedKey> all, keys_of(folder_ / "keys.json", true));
  const auto known = std::ranges::find_if(all, [&](const TrustedKey& one) {
    return one.key == key.key && identity_of_location(one.repository) == identity_of_location(key.repository);
  });
  if (known == all.end()) {
    all.push_back(std::move(key));
  } else {
    if (known->engines == key.engines && known->threshold == key.threshold) return {};
    known->engines = std::move(key.engines);
    known->threshold = key.threshold;
  }
  return write_keys(folder_, all);
}

Result<bool> TrustStore::remove(std::string_view key_id) const {
  if (!read_folder_.empty()) {
    TRY_ASSIGN(const std::vector<TrustedKey> fixed, keys_of(read_folder_ / "keys.json", false));
    if (std::any_of(fixed.begin(), fixed.end(), [&](const TrustedKey& one) { return one.key.id == key_id; }))
      return fail(diagnose_errno(Code::folder_not_writable,
                                 calls::access(read_folder_.c_str(), W_OK) != 0 ? errno : EACCES)
                      .with(Key::place, "cache")
                      .with(Key::file, path_text(read_folder_ / "keys.json"))
                      .with(Key::folder, path_text(read_folder_)));
  }
  TRY_ASSIGN(const cache::FileLock lock, lock_of(folder_));
  TRY_ASSIGN(std::vector<TrustedKey> all, keys_of(folder_ / "keys.json", true));
  std::vector<PublicKey> gone;
  TRY_ASSIGN(const std::vector<TrustedKey> before, keys());
  std::erase_if(all, [&](const TrustedKey& key) {
    if (key.key.id != key_id) return false;
    gone.push_back(key.key);
    return true;
  });
  if (gone.empty()) return false;
  TRY(write_keys(folder_, all));
  for (const fs::path& file : state_files(folder_)) {
    TRY_ASSIGN(const std::optional<Json> document, document_of(file));
    const std::string repository = document ? (*document)["repository"].as_string() : "";
    TRY_ASSIGN(Seen seen, seen_of(file, repository));
    const bool listed = std::any_of(gone.begin(), gone.end(),
                                    [&](const PublicKey& key) { return lists_key(seen.root, key); });
    // Afterwards nobody could say whose versions these are.
    if (is_of_other_keys(seen, identity_of_location(repository), before))
      seen = {};
    else if (seen.root.empty() || !listed)
      continue;
    seen.root.clear();
    seen.trusted_by.clear();
    TRY(write_file(file, to_json(seen, repository).dump(1) + "\n"));
  }
  return true;
}

Result<Seen> TrustStore::seen(const std::string& repository) const {
  Seen seen;
  TRY_ASSIGN(const std::vector<TrustedKey> all, keys());
  for (const fs::path& folder : all_folders())
    for (const fs::path& file : files_for(folder, repository)) {
      TRY_ASSIGN(Seen other, seen_of(file, repository));
      if (!is_of_other_keys(other, identity_of_location(repository), all)) take_newer(seen, std::move(other));
    }
  return seen;
}

Result<std::vector<std::pair<std::string, Seen>>> TrustStore::all_seen() const {
  std::vector<std::pair<std::string, Seen>> all;
  TRY_ASSIGN(const std::vector<TrustedKey> trusted, keys());
  for (const fs::path& folder : all_folders())
    for (const fs::path& file : state_files(folder)) {
      TRY_ASSIGN(const std::optional<Json> document, document_of(file));
      if (!document) continue;
      const std::string repository = (*document)["repository"].as_string();
      TRY_ASSIGN(Seen seen, seen_of(file, repository));
      if (is_of_other_keys(seen, identity_of_location(repository), trusted)) continue;
      const auto known = std::ranges::find_if(all, [&](const auto& one) {
        return identity_of_location(one.first) == identity_of_location(repository);
      });
      if (known == all.end())
        all.emplace_back(repository, std::move(seen));
      else
        take_newer(known->second, std::move(seen));
    }
  return all;
}

Result<void> TrustStore::remember(const std::string& repository, const Seen& seen) const {
  if (folder_.empty()) return {};
  const fs::path file = file_for(folder_, repository);
  TRY_ASSIGN(const Seen before, seen_of(file, repository));
  if (before == seen) return {};
  TRY_ASSIGN(const cache::FileLock lock, lock_of(folder_));
  // Another process may have stored something newer meanwhile.
  TRY_ASSIGN(Seen now, seen_of(file, repository));
  TRY_ASSIGN(const std::vector<TrustedKey> all, keys());
  if (is_of_other_keys(now, identity_of_location(repository), all)) now = {};
  take_newer(now, seen);
  return write_file(file, to_json(now, repository).dump(1) + "\n");
}

Result<bool> TrustStore::forget(const std::string& repository) const {
  TRY_ASSIGN(const cache::FileLock lock, lock_of(folder_));
  bool removed = false;
  for (const fs::path& file : files_for(folder_, repository)) {
    std::error_code error;
    removed = fs::remove(file, error) || removed;
    if (error) return fail(write_failure(error.value(), file));
  }
  return removed;
}

std::vector<fs::path> TrustStore::files(const std::string& repository) const {
  std::vector<fs::path> all;
  for (const fs::path& folder : all_folders()) {
    all.push_back(folder / "keys.json");
    const std::vector<fs::path> remembered = files_for(folder, repository);
    all.insert(all.end(), remembered.begin(), remembered.end());
  }
  return all;
}

}  // namespace enginehost::manifest
