#include "host/manifest/trust/root.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include "base/text.hpp"
#include "host/manifest/fields.hpp"

namespace enginehost::manifest {
namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

void read_roles(Reading& reading, Fields& fields, RootKey& key) {
  std::vector<std::string> roles;
  fields.texts("roles", Need::optional, is_text, roles);
  if (roles.empty()) return;
  key.root = key.index = false;
  for (const std::string& role : roles)
    if (role == name_of(Role::root))
      key.root = true;
    else if (role == name_of(Role::index))
      key.index = true;
    else
      reading.refuse(fields.place_of("roles"), "\"" + role + "\" is neither root nor index");
}

void read_key(Reading& reading, const Json& object, Root& root) {
  RootKey key;
  Fields fields(reading, object, "keys[" + std::to_string(root.keys.size()) + "]");
  std::string text;
  fields.text("public", Need::required, is_text, text);
  if (reading.mistake) return;
  auto bytes = read_public_key(text, reading.document);
  if (!bytes) return reading.refuse(fields.place_of("public"), bytes.error().value(Key::problem));
  key.key = std::move(*bytes);
  // A key under two ids, or two keys under one, would count twice.
  for (const RootKey& other : root.keys)
    if (other.key.id == key.key.id || other.key.bytes == key.key.bytes)
      reading.refuse(fields.place_of("public"), "the key " + key.key.id + " occurs twice");
  read_roles(reading, fields, key);
  fields.warn_of_unknown();
  root.keys.push_back(std::move(key));
}

void read_thresholds(Reading& reading, Fields& fields, Root& root) {
  if (const Json* thresholds = fields.object("thresholds", Need::optional)) {
    Fields members(reading, *thresholds, fields.place_of("thresholds"));
    members.number("root", Need::optional, 1, most_root_keys, root.root_threshold);
    members.number("index", Need::optional, 1, most_root_keys, root.index_threshold);
    members.warn_of_unknown();
  }
  for (const Role role : {Role::root, Role::index})
    if (static_cast<std::size_t>(root.threshold_for(role)) > root.keys_for(role).size())
      reading.refuse(fields.place_of("thresholds"),
                     "there are fewer keys for " + std::string(name_of(role)) + " than must sign");
}

void read_timestamp_keys(Reading& reading, Fields& fields, Root& root) {
  const Json* timestamp = fields.object("timestamp", Need::optional);
  if (timestamp == nullptr) return;
  Fields members(reading, *timestamp, fields.place_of("timestamp"));
  std::vector<std::string> texts;
  members.texts("keys", Need::required, is_text, texts);
  members.number("threshold", Need::optional, 1, most_root_keys, root.timestamp_threshold);
  members.warn_of_unknown();
  for (const std::string& text : texts) {
    auto key = read_public_key(text, reading.document);
    if (!key) return reading.refuse(members.place_of("keys"), key.error().value(Key::problem));
    for (const PublicKey& other : root.timestamp_keys)
      if (other.id == key->id || other.bytes == key->bytes)
        reading.refuse(members.place_of("keys"), "the key " + key->id + " occurs twice");
    root.timestamp_keys.push_back(std::move(*key));
  }
  if (texts.size() > most_root_keys) reading.refuse(members.place_of("keys"), "there are more than 64");
  if (static_cast<std::size_t>(root.timestamp_threshold) > root.keys_for(Role::timestamp).size())
    reading.refuse(members.place_of("threshold"), "there are fewer keys for timestamp than must sign");
}

constexpr Role all_roles[] = {Role::root, Role::index, Role::timestamp};

}  // namespace

std::string_view name_of(Role role) {
  return role == Role::root ? "root" : role == Role::index ? "index" : "timestamp";
}

std::string Statement::text() const {
  return "role:" + std::string(name_of(role)) + " version:" + std::to_string(version) +
         " ts:" + std::to_string(time);
}

std::optional<Statement> read_statement(std::string_view trusted_comment) {
  const std::vector<std::string> words = split(trusted_comment, ' ');
  if (words.size() != 3 || !words[1].starts_with("version:") || !words[2].starts_with("ts:"))
    return std::nullopt;
  Statement statement;
  const auto role = std::ranges::find_if(
      all_roles, [&](Role one) { return words[0] == "role:" + std::string(name_of(one)); });
  if (role == std::end(all_roles)) return std::nullopt;
  statement.role = *role;
  const auto version = parse_integer(std::string_view(words[1]).substr(8));
  const auto time = parse_integer(std::string_view(words[2]).substr(3));
  if (!version || !time || *version < 0 || *time < 0) return std::nullopt;
  statement.version = *version;
  statement.time = *time;
  // Accepts a single spelling: no signs, no leading zeros.
  return statement.text() == trusted_comment ? std::optional(statement) : std::nullopt;
}

bool Root::is_revoked(std::string_view key_id) const {
  return std::find(revoked.begin(), revoked.end(), key_id) != revoked.end();
}

std::vector<PublicKey> Root::keys_for(Role role) const {
  std::vector<PublicKey> found;
  if (role == Role::timestamp) {
    for (const PublicKey& key : timestamp_keys)
      if (!is_revoked(key.id)) found.push_back(key);
    return found;
  }
  for (const RootKey& key : keys)
    if ((role == Role::root ? key.root : key.index) && !is_revoked(key.key.id)) found.push_back(key.key);
  return found;
}

Result<Root> read_root(const Json& document, const std::string& name) {
  Root root;
  const auto read = [&](Reading& reading, Fields& fields) {
    fields.text("name", Need::required, is_text, root.name);
    fields.number("version", Need::required, 1, most, root.version);
    fields.text("created", Need::optional, is_time, root.created);
    fields.text("expires", Need::required, is_time, root.expires);
    fields.texts("revoked", Need::optional, is_key_id, root.revoked);
    if (const Json* keys = fields.array("keys", Need::required)) {
      if (keys->as_array().size() > most_root_keys) reading.refuse("keys", "there are more than 64");
      for (std::size_t i = 0; i < keys->as_array().size() && !reading.mistake; ++i)
        read_key(reading, keys->as_array()[i], root);
    }
    if (!reading.mistake) read_thresholds(reading, fields, root);
    if (!reading.mistake) read_timestamp_keys(reading, fields, root);
  };
  return read_document(document, name, read).map([&](const auto&) { return std::move(root); });
}

Result<Timestamp> read_timestamp(const Json& document, const std::string& name) {
  Timestamp timestamp;
  const auto read = [&](Reading& reading, Fields& fields) {
    fields.text("name", Need::required, is_text, timestamp.name);
    fields.number("version", Need::required, 1, most, timestamp.version);
    fields.text("created", Need::optional, is_time, timestamp.created);
    fields.text("expires", Need::required, is_time, timestamp.expires);
    if (const Json* index = fields.object("index", Need::required)) {
      Fields members(reading, *index, "index");
      members.number("serial", Need::required, 0, most, timestamp.index_serial);
      members.text("sha256", Need::required, is_digest, timestamp.index_sha256);
    }
  };
  return read_document(document, name, read).map([&](const auto&) { return std::move(timestamp); });
}

}  // namespace enginehost::manifest
