#include "host/catalog/vendor_facts.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/files.hpp"
#include "base/location.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "cache/lock.hpp"
#include "host/catalog/cached_reader.hpp"
#include "host/explain/explain.hpp"
#include "host/settings/policy.hpp"
#include "host/vendor_facts/vendor_facts.hpp"

namespace enginehost::catalog {
namespace {

constexpr std::uint64_t largest_state = 16u << 20;

// A document that was accepted once.
struct AcceptedFacts {
  std::string location, bytes;
  std::int64_t floor_since = 0;  // of manifest::Seen then
  vendor::Facts facts;
  bool counts = true;  // false: only its serial is a floor
};
using AcceptedByPlace = std::map<std::string, AcceptedFacts>;  // by identity_of_location()

bool is_same_place(const std::string& one, const std::string& other) {
  return !one.empty() && !other.empty() &&
         identity_of_location(without_passwords(one)) == identity_of_location(without_passwords(other));
}

bool is_named_by_policy(const settings::Settings& settings, const std::string& location) {
  return is_same_place(location, settings.policy.vendor_facts_repository);
}

// Returns whether a key that counts for this repository is trusted for every engine. A key of the place takes
// precedence over keys of all places, as for builds.
bool is_trusted_for_every_engine(const settings::Settings& settings, const std::string& location) {
  const manifest::TrustStore store = trust_store(settings);
  auto keys = store.keys_for(location);
  const auto seen = store.seen(location);
  if (!keys || !seen || seen->root.empty()) return false;
  std::erase_if(*keys, [&](const manifest::TrustedKey& key) {
    return !seen->trusted_by.empty() &&
           std::ranges::find(seen->trusted_by, key.key.id) == seen->trusted_by.end();
  });
  return !keys->empty() && manifest::engines_of(*keys, *seen).empty();
}

// Returns why the facts of a repository that the policy names do not count; empty: they do.
std::string doubt_about(const settings::Settings& settings, const settings::Repository& repository,
                        const manifest::RepositoryContent& content) {
  if (content.signed_by.empty()) return "no trusted key signed it";
  if (!repository.engines.empty())
    return "it is configured for " + join(repository.engines, ", ") + " only, in " + repository.source;
  if (!content.engines.empty()) return "its key is trusted for " + join(content.engines, ", ") + " only";
  if (!is_trusted_for_every_engine(settings, repository.location))
    return "no key of it is trusted for every engine";
  return {};
}

std::filesystem::path state_file(const settings::Settings& settings) {
  return settings.state_folder.empty() ? std::filesystem::path()
                                       : settings.state_folder / "vendor-facts.json";
}

// Facts start over with the index when a root removes a key that could have signed both.
std::int64_t floor_of(const settings::Settings& settings, const std::string& location) {
  const auto seen = trust_store(settings).seen(location);
  return seen ? seen->floor_since : 0;
}

// Returns the documents that were accepted before. A damaged file counts as none: the next answer of the
// repository replaces it.
AcceptedByPlace accepted_before(const settings::Settings& settings) {
  AcceptedByPlace accepted;
  const std::filesystem::path file = state_file(settings);
  if (file.empty()) return accepted;
  const auto text = read_file(file, largest_state);
  if (!text) return accepted;
  const auto document = parse_json(*text, path_text(file));
  if (!document) return accepted;
  for (const Json& one : (*document)["repositories"].as_array()) {
    AcceptedFacts kept{
        one["location"].as_string(), one["document"].as_string(), one["floor_since"].as_integer(), {}, false};
    if (kept.floor_since != floor_of(settings, kept.location)) continue;
    auto facts = vendor::read_facts(kept.bytes, path_text(file), &vendor::built_in());
    if (!facts) continue;
    kept.facts = std::move(*facts);
    kept.facts.from = kept.location;
    kept.facts.sha256 = sha256_hex(kept.bytes);
    kept.counts = is_same_place(kept.location, settings::own_repository(settings)) ||
                  (is_named_by_policy(settings, kept.location) &&
                   is_trusted_for_every_engine(settings, settings.policy.vendor_facts_repository));
    const std::string place = identity_of_location(kept.location);
    accepted.insert_or_assign(place, std::move(kept));
  }
  return accepted;
}

// Without the file the next request asks the repository again.
void keep(const settings::Settings& settings, AcceptedByPlace accepted) {
  const std::filesystem::path file = state_file(settings);
  if (file.empty() || !make_folders(file.parent_path())) return;
  const auto lock = cache::FileLock::try_exclusive(file.parent_path() / "vendor-facts.lock", "vendor facts");
  if (!lock || !*lock) return;
  // Another process may have accepted newer facts meanwhile.
  for (auto& [place, one] : accepted_before(settings))
    if (const auto own = accepted.find(place);
        own == accepted.end() || own->second.facts.serial < one.facts.serial)
      accepted.insert_or_assign(place, std::move(one));
  Json list = Json::array();
  for (const auto& [place, one] : accepted)
    list.push(Json::object()
                  .set("location", one.location)
                  .set("floor_since", one.floor_since)
                  .set("document", one.bytes));
  static_cast<void>(
      write_file(file, Json::object().set("format", 1).set("repositories", std::move(list)).dump(1) + "\n"));
}

// Adds the offered document to the accepted ones. Returns false if it changes nothing.
bool accept(const settings::Settings& settings, const OfferedFacts& offered, AcceptedByPlace& accepted,
            manifest::Catalog& catalog) {
  const std::string location = without_passwords(offered.location);
  const std::string name = manifest::below(location, manifest::path_of_vendor_facts(offered.sha256));
  auto facts = vendor::read_facts(offered.bytes, name, &vendor::built_in());
  if (!facts) {
    catalog.failures.push_back(std::move(facts.error().with(Key::repository, location)));
    return false;
  }
  const std::string place = identity_of_location(location);
  const auto before = accepted.find(place);
  if (before != accepted.end() && facts->serial <= before->second.facts.serial) {
    catalog.failures.push_back(
        std::move(diagnose(Code::vendor_facts_older)
                      .with(Key::document, name)
                      .with(Key::repository, location)
                      .with(Key::found, std::to_string(facts->serial))
                      .with(Key::expected, std::to_string(before->second.facts.serial))));
    return false;
  }
  if (facts->serial <= vendor::built_in().serial) return false;
  facts->from = location;
  facts->sha256 = offered.sha256;
  accepted.insert_or_assign(
      place, AcceptedFacts{location, offered.bytes, floor_of(settings, location), std::move(*facts)});
  return true;
}

// Reads only the index of the repository that the policy names, and its facts.
std::optional<OfferedFacts> ask_named(const CatalogRequest& request, CatalogOrigin& origin,
                                      std::vector<std::string>& warnings) {
  const settings::Settings& settings = request.settings;
  const settings::Repository named{settings.policy.vendor_facts_repository, false, settings.policy.file};
  const manifest::TrustStore store = trust_store(settings);
  manifest::Trust trust = trust_in(store, settings, request.transfer.offline);
  trust.required = true;
  const auto ask = [&](manifest::DocumentReader& reader) {
    const auto content = manifest::load_index(named.location, reader, request.now, trust);
    if (!content)
      warnings.push_back("the vendor facts of " + without_passwords(named.location) +
                         " are not known: " + explain::one_line(content.error()));
    return offered_facts(request, named, content, reader);
  };
  for (const std::filesystem::path& file : store.files(named.location))
    origin.documents.push_back(path_text(file));
  if (!settings::is_url(named.location)) {
    manifest::FolderReader reader;
    origin.documents.push_back(manifest::below(named.location, "index.json"));
    return ask(reader);
  }
  SilentServers silent;
  CachedReader reader(request, named.location, silent, origin, request.spare_unreached);
  if (settings.refresh) reader.ask_again();
  return ask(reader);
}

}  // namespace

std::optional<OfferedFacts> offered_facts(const CatalogRequest& request,
                                          const settings::Repository& repository,
                                          const Result<manifest::RepositoryContent>& content,
                                          manifest::DocumentReader& reader) {
  const settings::Settings& settings = request.settings;
  const bool is_named = is_named_by_policy(settings, repository.location);
  const bool is_own = repository.source == "default";
  if (!settings.policy.vendor_facts || !content || (!is_named && !is_own)) return std::nullopt;
  OfferedFacts offered{repository.location, {}, {}, {}};
  if (is_named && !is_own)
    if (const std::string doubt = doubt_about(settings, repository, *content); !doubt.empty()) {
      offered.refused = std::move(diagnose(Code::repository_may_not_replace_facts)
                                      .with(Key::repository, without_passwords(repository.location))
                                      .with(Key::problem, doubt)
                                      .with(Key::file, settings.policy.file));
      return offered;
    }
  const auto& entry = content->index.vendor_facts;
  // By its place EngineHost's own repository is trusted without a signature; a signed one may be limited.
  if (!entry || entry->sha256 == vendor::built_in_sha256() || !content->expired.empty() ||
      !content->engines.empty())
    return std::nullopt;
  offered.sha256 = entry->sha256;
  auto bytes = manifest::read_vendor_facts(*content, reader);
  if (bytes && *bytes)
    offered.bytes = std::move(**bytes);
  else if (!bytes)
    offered.refused = std::move(bytes).error().within("reading the vendor facts of repository " +
                                                      without_passwords(repository.location));
  return offered;
}

void use_vendor_facts(const CatalogRequest& request, std::vector<OfferedFacts> offered,
                      manifest::Catalog& catalog, CatalogOrigin& origin) {
  const settings::Settings& settings = request.settings;
  if (!settings.policy.vendor_facts) return vendor::use(vendor::built_in());
  const std::string& named = settings.policy.vendor_facts_repository;
  if (!named.empty() && !settings::lists(settings, named))
    if (auto one = ask_named(request, origin, catalog.warnings)) offered.push_back(std::move(*one));
  if (const std::filesystem::path file = state_file(settings); !file.empty())
    origin.documents.push_back(path_text(file));
  AcceptedByPlace accepted = accepted_before(settings);
  bool changed = false;
  for (const OfferedFacts& one : offered) {
    if (one.refused) {
      // Documents that it gave while it was trusted do not count either.
      const auto before = accepted.find(identity_of_location(without_passwords(one.location)));
      if (one.refused->code == Code::repository_may_not_replace_facts && before != accepted.end())
        before->second.counts = false;
      if (is_of_vendor_facts(*one.refused))
        catalog.failures.push_back(*one.refused);
      else
        catalog.warnings.push_back(explain::one_line(*one.refused));
      continue;
    }
    const bool is_known = std::ranges::any_of(
        accepted, [&](const auto& known) { return known.second.facts.sha256 == one.sha256; });
    if (!is_known) changed = accept(settings, one, accepted, catalog) || changed;
  }
  if (changed) keep(settings, accepted);
  const vendor::Facts* newest = &vendor::built_in();
  for (const auto& [place, one] : accepted)
    if (one.counts && one.facts.serial > newest->serial) newest = &one.facts;
  vendor::use(*newest);
}

bool is_of_vendor_facts(const Diagnosis& failure) {
  return failure.code == Code::vendor_facts_refused || failure.code == Code::vendor_facts_older ||
         failure.code == Code::repository_may_not_replace_facts;
}

}  // namespace enginehost::catalog
