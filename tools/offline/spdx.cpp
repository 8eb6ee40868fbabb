#include "tools/offline/contents.hpp"

#include <algorithm>
#include <cctype>
#include <map>

#include "base/sha256.hpp"
#include "base/text.hpp"

namespace enginehost::offline {
namespace {

// https://spdx.github.io/spdx-spec/v2.3/package-information/ : an SPDXID holds letters, digits, "." and "-".
std::string id_of(std::string_view kind, std::string_view name) {
  std::string id = "SPDXRef-" + std::string(kind) + "-";
  for (const char c : name)
    id += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' ? c : '-';
  return id + "-" + sha256_hex(name).substr(0, 8);
}

// Identifiers in SPDX's list have letters, digits, ".", "-" and "+". Any other license is listed as a license
// of this document.
std::string license_reference(const std::string& id) {
  if (id.empty()) return "NOASSERTION";
  const bool plain = std::all_of(id.begin(), id.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '+';
  });
  if (plain) return id;
  std::string reference = "LicenseRef-";
  for (const char c : id) reference += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' ? c : '-';
  return reference;
}

std::string download_location(const manifest::Component& component) {
  for (const manifest::Artifact& artifact : component.artifacts)
    for (const manifest::Source& source : artifact.sources)
      if (source.kind == manifest::Source::Kind::url) return without_passwords(source.location);
  return "NOASSERTION";
}

Json package_of(const manifest::Component& component, const manifest::License* license) {
  Json package = Json::object();
  package.set("SPDXID", id_of("component", component.id))
      .set("name", component.id)
      .set("versionInfo", component.version.empty() ? "unknown" : component.version)
      .set("downloadLocation", download_location(component))
      .set("filesAnalyzed", false)
      .set("licenseConcluded", "NOASSERTION")
      .set("licenseDeclared", license_reference(license != nullptr ? license->id : std::string()))
      .set("copyrightText", "NOASSERTION");
  Json checksums = Json::array();
  for (const manifest::Artifact& artifact : component.artifacts)
    if (!artifact.sha256.empty() && checksums.as_array().empty())
      checksums.push(Json::object().set("algorithm", "SHA256").set("checksumValue", artifact.sha256));
  if (!checksums.as_array().empty()) package.set("checksums", std::move(checksums));
  return package;
}

Json relationship(const std::string& from, const char* kind, const std::string& to) {
  return Json::object()
      .set("spdxElementId", from)
      .set("relationshipType", kind)
      .set("relatedSpdxElement", to);
}

}  // namespace

std::string spdx_of(const std::vector<std::shared_ptr<const manifest::Build>>& builds) {
  std::map<std::string, Json> components, licenses;
  Json packages = Json::array(), relationships = Json::array();
  std::string created = "1970-01-01T00:00:00Z", content;
  for (const auto& build : builds) {
    const auto owner = build->manifest.lock();
    if (owner && owner->created > created) created = owner->created;
    content += build->id + " " + build->artifacts_digest() + "\n";
    const std::string id = id_of("build", build->id);
    packages.push(Json::object()
                      .set("SPDXID", id)
                      .set("name", build->id)
                      .set("versionInfo", build->version)
                      .set("downloadLocation", "NOASSERTION")
                      .set("filesAnalyzed", false)
                      .set("licenseConcluded", "NOASSERTION")
                      .set("licenseDeclared", "NOASSERTION")
                      .set("copyrightText", "NOASSERTION"));
    relationships.push(relationship("SPDXRef-DOCUMENT", "DESCRIBES", id));
    for (const manifest::Component* component : build->all_components()) {
      const manifest::License* license = nullptr;
      if (owner)
        if (const auto found = owner->licenses.find(component->license); found != owner->licenses.end())
          license = &found->second;
      components.emplace(component->id, package_of(*component, license));
      relationships.push(relationship(id, "CONTAINS", id_of("component", component->id)));
      if (license == nullptr || !license_reference(license->id).starts_with("LicenseRef-")) continue;
      Json extracted = Json::object();
      extracted.set("licenseId", license_reference(license->id))
          .set("name", license->id)
          .set("extractedText",
               license->url.empty() ? "The text was not given." : "See " + without_passwords(license->url));
      if (!license->url.empty())
        extracted.set("seeAlsos", Json::array().push(without_passwords(license->url)));
      licenses.emplace(license->id, std::move(extracted));
    }
  }
  for (auto& [id, package] : components) packages.push(std::move(package));
  Json extracted = Json::array();
  for (auto& [id, license] : licenses) extracted.push(std::move(license));
  Json document = Json::object();
  document.set("spdxVersion", "SPDX-2.3")
      .set("dataLicense", "CC0-1.0")
      .set("SPDXID", "SPDXRef-DOCUMENT")
      .set("name", "EngineHost bundle")
      .set("documentNamespace", "https://enginehost.invalid/bundle/" + sha256_hex(content))
      .set("creationInfo",
           Json::object().set("created", created).set("creators", Json::array().push("Tool: engine-cache")))
      .set("packages", std::move(packages))
      .set("relationships", std::move(relationships));
  if (!extracted.as_array().empty()) document.set("hasExtractedLicensingInfos", std::move(extracted));
  return document.dump(1) + "\n";
}

}  // namespace enginehost::offline
