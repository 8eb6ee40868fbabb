#include "host/oci/pull.hpp"

#include <algorithm>
#include <ctime>

#include "base/sha256.hpp"
#include "base/text.hpp"
#include "host/oci/documents.hpp"
#include "host/oci/reference.hpp"
#include "host/oci/registry.hpp"

namespace enginehost::oci {
namespace {

constexpr std::size_t most_manifests = 32;  // the most entries examined, and named in a message, per index

Diagnosis not_there(const Reference& reference, const RegistryAnswer& answer) {
  const bool is_missing = answer.status == 404;
  Diagnosis diagnosis = diagnose(is_missing ? Code::not_in_registry : Code::server_refuses);
  diagnosis.with(Key::reference, reference.text())
      .with(Key::registry, reference.host)
      .with(Key::url, answer.url);
  diagnosis.with(Key::status, std::to_string(answer.status)).with(Key::host, transfer::host_of(answer.url));
  if (answer.is_transient) diagnosis.with(Key::temporary, "yes");
  if (answer.is_transient && answer.retry_after)
    diagnosis.with(Key::retry_after, text_of_time(std::time(nullptr) + answer.retry_after->count()),
                   "Retry-After of the answer");
  if (!answer.said.empty()) diagnosis.with(is_missing ? Key::registry_said : Key::server_said, answer.said);
  return diagnosis;
}

Result<Document> fetch_document(Registry& registry, const Reference& reference, const std::string& version) {
  RegistryRequest request;
  request.path = "manifests/" + version;
  request.accept = accepted_types;
  request.limit = largest_document;
  TRY_ASSIGN(const RegistryAnswer answer, registry.ask(request));
  if (answer.status != 200) return fail(not_there(reference, answer));
  if (version.starts_with("sha256:"))
    if (const std::string actual = sha256_hex(answer.body);
        version.compare(7, std::string::npos, actual) != 0)
      return fail(diagnose(Code::registry_manifest_wrong)
                      .with(Key::reference, reference.text())
                      .with(Key::url, answer.url)
                      .with(Key::expected_sha256, version.substr(7))
                      .with(Key::actual_sha256, actual));
  return read_document(answer.body, reference.host + "/" + reference.repository +
                                        (version.starts_with("sha256:") ? "@" : ":") + version);
}

// Returns how well an index's entry fits, or nothing when it is for another platform. Members that the entry
// leaves out do not count against it.
std::optional<int> fit_of(const Descriptor& entry, const Wanted& wanted) {
  const PlatformName here = platform_name(wanted.os, wanted.arch);
  int points = 0;
  const auto weigh = [&](const std::string& said, const std::string& looked_for, int worth) {
    if (said.empty() || said == "unknown" || looked_for.empty()) return true;
    points += worth;
    return said == looked_for;
  };
  if (!weigh(entry.os, here.os, 1) || !weigh(entry.architecture, here.architecture, 1)) return {};
  if (!here.variant.empty() && !weigh(entry.variant, here.variant, 1)) return {};
  if (!weigh(entry.annotation(flavor_annotation), wanted.flavor, 4)) return {};
  return points;
}

std::string said_of(const Descriptor& entry) {
  std::string text = entry.os + "/" + entry.architecture + (entry.variant.empty() ? "" : "/" + entry.variant);
  if (const std::string flavor = entry.annotation(flavor_annotation); !flavor.empty()) text += " " + flavor;
  return text;
}

bool lists(const Document& manifest, const std::string& sha256) {
  return std::any_of(manifest.layers.begin(), manifest.layers.end(),
                     [&](const Descriptor& layer) { return layer.digest == sha256; });
}

// Checks that the reference's documents list the blob, so that a registry is never asked for a digest that
// its publisher did not put there.
Result<void> find_in_documents(Registry& registry, const Reference& reference, const Wanted& wanted) {
  const std::string version = reference.digest.empty() ? reference.tag : "sha256:" + reference.digest;
  TRY_ASSIGN(const Document top, fetch_document(registry, reference, version));
  Diagnosis missing = diagnose(Code::artifact_not_listed);
  missing.with(Key::reference, reference.text()).with(Key::sha256, wanted.sha256);
  if (!top.is_index) {
    if (lists(top, wanted.sha256)) return {};
    return fail(std::move(missing.with(Key::problem, "its manifest lists no layer with that digest")));
  }
  std::vector<std::pair<int, const Descriptor*>> fitting;
  std::size_t named = 0;
  for (const Descriptor& entry : top.manifests) {
    if (++named <= most_manifests) missing.with(Key::offered, said_of(entry).substr(0, 200));
    if (const auto points = fit_of(entry, wanted)) fitting.emplace_back(*points, &entry);
  }
  std::stable_sort(fitting.begin(), fitting.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  if (fitting.size() > most_manifests) fitting.resize(most_manifests);
  const PlatformName here = platform_name(wanted.os, wanted.arch);
  missing.with(Key::platform, here.os + "/" + here.architecture +
                                  (here.variant.empty() ? "" : "/" + here.variant) + " " + wanted.flavor);
  for (const auto& [points, entry] : fitting) {
    TRY_ASSIGN(const Document manifest, fetch_document(registry, reference, "sha256:" + entry->digest));
    if (!manifest.is_index && lists(manifest, wanted.sha256)) return {};
  }
  return fail(std::move(missing.with(Key::problem, fitting.empty()
                                                       ? "its index has no entry for this platform and flavor"
                                                       : "no manifest of its index lists that digest")));
}

}  // namespace

Result<transfer::Place> locate(std::string_view text, const Wanted& wanted,
                               const transfer::TransferOptions& options,
                               const std::optional<CancelToken>& cancel) {
  TRY_ASSIGN(const Reference reference, read_reference(text));
  if (options.offline) return fail(diagnose(Code::offline).with(Key::url, reference.text()));
  Registry registry(reference.host, reference.repository, "pull", options, cancel);
  const bool names_the_blob =
      reference.digest == wanted.sha256 || (reference.digest.empty() && reference.tag.empty());
  if (!names_the_blob) TRY(find_in_documents(registry, reference, wanted));
  RegistryRequest request;
  request.method = "HEAD";
  request.path = "blobs/sha256:" + wanted.sha256;
  TRY_ASSIGN(const RegistryAnswer answer, registry.ask(request));
  if (answer.status < 200 || answer.status > 399) return fail(not_there(reference, answer));
  transfer::Place place{registry.url_of(request.path), {}, registry.authorization(), {}, {}};
  if (answer.status == 200) place.size = answer.length;  // a redirect's length is that of its page
  return place;
}

std::vector<std::string> with_mirrors(std::string_view text, const transfer::TransferOptions& options) {
  std::vector<std::string> all;
  if (const auto reference = read_reference(text))
    for (const std::string& rule : options.registry_mirrors) {
      const std::size_t equals = rule.find('=');
      if (equals == std::string::npos || to_lower(rule.substr(0, equals)) != reference->host) continue;
      Reference mirrored = *reference;
      mirrored.host = to_lower(rule.substr(equals + 1));
      all.push_back(mirrored.text());
    }
  all.emplace_back(text);
  return all;
}

}  // namespace enginehost::oci
