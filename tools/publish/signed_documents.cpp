#include "tools/publish/signed_documents.hpp"

#include <vector>

namespace enginehost::publish {
namespace {

std::string_view view_of(const manifest::SignatureBytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

Json to_json(const manifest::Root& root) {
  Json keys = Json::array();
  for (const manifest::RootKey& key : root.keys) {
    std::vector<std::string> roles;
    if (key.root) roles.emplace_back(name_of(manifest::Role::root));
    if (key.index) roles.emplace_back(name_of(manifest::Role::index));
    keys.push(Json::object().set("public", key.key.text()).set("roles", Json::strings(roles)));
  }
  Json document = Json::object();
  document.set("format", 1)
      .set("name", root.name)
      .set("version", root.version)
      .set("created", root.created)
      .set("expires", root.expires)
      .set("keys", std::move(keys))
      .set("thresholds", Json::object().set("root", root.root_threshold).set("index", root.index_threshold))
      .set("revoked", Json::strings(root.revoked));
  if (root.timestamp_keys.empty()) return document;
  Json timestamps = Json::array();
  for (const manifest::PublicKey& key : root.timestamp_keys) timestamps.push(key.text());
  return document.set(
      "timestamp",
      Json::object().set("keys", std::move(timestamps)).set("threshold", root.timestamp_threshold));
}

Json to_json(const manifest::Timestamp& timestamp) {
  return Json::object()
      .set("format", 1)
      .set("name", timestamp.name)
      .set("version", timestamp.version)
      .set("created", timestamp.created)
      .set("expires", timestamp.expires)
      .set("index",
           Json::object().set("serial", timestamp.index_serial).set("sha256", timestamp.index_sha256));
}

std::string write_signature(const manifest::Signature& signature, std::string_view untrusted_comment) {
  const auto number = manifest::number_of_key_id(signature.key_id);
  std::string bytes = "ED";
  bytes.append(number.begin(), number.end());
  bytes.append(view_of(signature.bytes));
  std::string text = "untrusted comment: ";
  text.append(untrusted_comment).append("\n").append(manifest::base64_text(bytes)).append("\n");
  text.append("trusted comment: ").append(signature.trusted_comment).append("\n");
  return text.append(manifest::base64_text(view_of(signature.global))).append("\n");
}

}  // namespace enginehost::publish
