#include "host/oci/documents.hpp"

#include "base/json.hpp"
#include "base/sha256.hpp"

namespace enginehost::oci {
namespace {

constexpr std::size_t most_entries = 1000;

bool is_manifest_type(std::string_view type) {
  return type == manifest_type || type == "application/vnd.docker.distribution.manifest.v2+json";
}
bool is_index_type(std::string_view type) {
  return type == index_type || type == "application/vnd.docker.distribution.manifest.list.v2+json";
}

class Reading {
 public:
  explicit Reading(std::string_view name) : name_(name) {}

  tl::unexpected<Diagnosis> refuse(std::string_view problem) const {
    Diagnosis diagnosis = diagnose(Code::not_an_image_manifest);
    diagnosis.with(Key::reference, name_);
    if (!media_type.empty()) diagnosis.with(Key::media_type, media_type.substr(0, 200));
    return fail(std::move(diagnosis.with(Key::problem, problem)));
  }

  Result<Descriptor> descriptor(const Json& entry, const std::string& place) const {
    if (!entry.is_object()) return refuse(place + " is not an object");
    Descriptor result;
    const std::string& digest = entry["digest"].as_string();
    if (!digest.starts_with("sha256:") || !is_sha256_hex(std::string_view(digest).substr(7)))
      return refuse(place + " has no sha256 digest");
    result.digest = digest.substr(7);
    if (!entry["size"].is_integer() || entry["size"].as_integer() < 0) return refuse(place + " has no size");
    result.size = static_cast<std::uint64_t>(entry["size"].as_integer());
    result.media_type = entry["mediaType"].as_string();
    if (result.media_type.empty()) return refuse(place + " has no mediaType");
    result.artifact_type = entry["artifactType"].as_string();
    const Json& platform = entry["platform"];
    result.os = platform["os"].as_string();
    result.architecture = platform["architecture"].as_string();
    result.variant = platform["variant"].as_string();
    for (const auto& [key, value] : entry["annotations"].as_object())
      if (value.is_string()) result.annotations.emplace_back(key, value.as_string());
    return result;
  }

  Result<std::vector<Descriptor>> list(const Json& document, const char* member) const {
    const Json* entries = document.find(member);
    if (entries == nullptr || !entries->is_array())
      return refuse(std::string("it has no list \"") + member + "\"");
    if (entries->as_array().size() > most_entries)
      return refuse(std::string("\"") + member + "\" has too many entries");
    std::vector<Descriptor> result;
    for (const Json& entry : entries->as_array()) {
      TRY_ASSIGN(Descriptor one,
                 descriptor(entry, std::string(member) + "[" + std::to_string(result.size()) + "]"));
      result.push_back(std::move(one));
    }
    return result;
  }

  std::string media_type;

 private:
  std::string_view name_;
};

}  // namespace

std::string Descriptor::annotation(std::string_view name) const {
  for (const auto& [key, value] : annotations)
    if (key == name) return value;
  return {};
}

Result<Document> read_document(std::string_view text, std::string_view name) {
  Reading reading(name);
  const auto parsed = parse_json(text, name, {largest_document, 16});
  if (!parsed) return reading.refuse("it is not JSON: " + std::string(parsed.error().value(Key::problem)));
  const Json& json = *parsed;
  if (!json.is_object()) return reading.refuse("it is not a JSON object");
  Document document;
  document.media_type = reading.media_type = json["mediaType"].as_string();
  document.artifact_type = json["artifactType"].as_string();
  if (json["schemaVersion"].as_integer() != 2) return reading.refuse("its schemaVersion is not 2");
  // OCI documents may lack the member; then their content decides. A document with both contents is refused,
  // because two readers could interpret it differently (CVE-2021-41190).
  const bool layers = json.find("layers") != nullptr || json.find("config") != nullptr;
  const bool manifests = json.find("manifests") != nullptr;
  if (layers && manifests) return reading.refuse("it is a manifest and an index at once");
  if (!document.media_type.empty() && !is_manifest_type(document.media_type) &&
      !is_index_type(document.media_type))
    return reading.refuse("it is neither an image manifest nor an image index");
  document.is_index = document.media_type.empty() ? manifests : is_index_type(document.media_type);
  if (document.is_index) {
    TRY_ASSIGN(document.manifests, reading.list(json, "manifests"));
    return document;
  }
  TRY_ASSIGN(document.layers, reading.list(json, "layers"));
  TRY_ASSIGN(document.config, reading.descriptor(json["config"], "config"));
  return document;
}

PlatformName platform_name(std::string_view os, std::string_view arch) {
  PlatformName name{std::string(os), std::string(arch), {}};
  if (os == "macos") name.os = "darwin";
  if (arch == "x86_64") name.architecture = "amd64";
  if (arch == "x86" || arch == "i686") name.architecture = "386";
  if (arch == "aarch64") name.architecture = "arm64";
  if (arch == "armv7" || arch == "armv7l") name = {name.os, "arm", "v7"};
  return name;
}

}  // namespace enginehost::oci
