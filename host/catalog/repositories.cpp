#include "host/catalog/repositories.hpp"

#include <algorithm>
#include <future>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "base/files.hpp"
#include "base/location.hpp"
#include "base/ownership.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "cache/layer_trust.hpp"
#include "host/acquire/description.hpp"
#include "host/catalog/cached_reader.hpp"
#include "host/catalog/vendor_facts.hpp"
#include "host/explain/explain.hpp"
#include "host/history/store.hpp"
#include "host/installations/in_place.hpp"
#include "host/manifest/repository.hpp"
#include "host/manifest/trust/root.hpp"
#include "host/settings/policy.hpp"
#include "host/transfer/transfer.hpp"

namespace enginehost::catalog {
namespace {

namespace fs = std::filesystem;
void expires(CatalogOrigin& origin, const std::string& time, std::int64_t now) {
  const auto moment = manifest::seconds_of_time(time);
  if (moment && *moment > now) origin.fresh_until = std::min(origin.fresh_until, *moment);
}

// Reads documents of a folder repository and records the files that could change.
class NotingReader : public manifest::FolderReader {
 public:
  explicit NotingReader(CatalogOrigin& origin) : origin_(origin) {}
  Result<std::string> read(const std::string& location, std::uint64_t limit) override {
    origin_.documents.push_back(location);
    return FolderReader::read(location, limit);
  }
  Result<std::string> read_listed(const std::string& location, std::uint64_t limit) override {
    return FolderReader::read(location, limit);
  }

 private:
  CatalogOrigin& origin_;
};

// A repository of the request, and what it sent.
struct Answer {
  const settings::Repository* repository;
  Result<manifest::RepositoryContent> content;
};

// The result of reading one repository. Several are read at once, and each result is used in its turn.
struct Loaded {
  Result<manifest::RepositoryContent> content = manifest::RepositoryContent();
  CatalogOrigin origin;
  std::vector<std::string> warnings;
  std::optional<OfferedFacts> facts;
  bool has_asked = false;
};

constexpr std::size_t most_at_once = 8;  // repositories behind URLs

// Runs the work on a thread of its own, or when its result is used.
template <class Work>
std::future<Loaded> start(bool at_once, Work work) {
  if (at_once) try {
      return std::async(std::launch::async, work);
    } catch (const std::system_error&) {
      // The system has no more threads.
    }
  return std::async(std::launch::deferred, work);
}

bool belongs_to_the_sdk(const settings::Repository& repository) { return repository.source == "default"; }

bool is_named_by_request(const settings::Repository& repository) {
  return repository.by_caller || repository.source == "ENGINEHOST_REPOSITORIES";
}

bool offers(const Answer& answer, const std::string& build) {
  return std::ranges::any_of(answer.content->manifests, [&](const auto& manifest) {
    return std::ranges::any_of(manifest->builds, [&](const auto& one) { return one->id == build; });
  });
}

// Removes the manifests of engines for which a repository does not answer: those outside of its "engines",
// and without that list those that EngineHost's own repository or an earlier configured one offers.
// Otherwise a repository that was configured for one engine could replace all others by "newer" ones. The
// repositories that the request names answer for all their engines, beside the configured ones.
void remove_unanswered(std::vector<Answer>& answers, std::vector<std::string>& warnings) {
  std::map<std::string, const Answer*> first;
  for (const Answer& answer : answers)
    if (answer.content && belongs_to_the_sdk(*answer.repository))
      for (const auto& manifest : answer.content->manifests) first.emplace(manifest->engine, &answer);
  for (Answer& answer : answers) {
    const settings::Repository& repository = *answer.repository;
    if (!answer.content || belongs_to_the_sdk(repository)) continue;
    if (!repository.engines.empty())
      std::erase_if(answer.content->unread_engines, [&](const std::string& engine) {
        return std::ranges::find(repository.engines, engine) == repository.engines.end();
      });
    std::erase_if(answer.content->manifests, [&](const auto& manifest) {
      const auto& engines = repository.engines;
      if (!engines.empty()) {
        if (std::ranges::find(engines, manifest->engine) == engines.end()) return true;
      } else if (is_named_by_request(repository)) {
        return false;
      }
      const Answer& speaker = *first.emplace(manifest->engine, &answer).first->second;
      if (&speaker == &answer || !engines.empty()) return false;
      // Several places of one repository need no warning.
      if (std::ranges::all_of(manifest->builds,
                              [&](const auto& build) { return offers(speaker, build->id); }))
        return true;
      std::string warning =
          "the repository " + without_passwords(repository.location) + " also offers " + manifest->engine +
          (belongs_to_the_sdk(*speaker.repository)
               ? ", which comes with EngineHost"
               : ", for which " + without_passwords(speaker.repository->location) + " answers") +
          ": to use its builds, list them as \"engines\" beside its \"location\" in " + repository.source;
      if (std::ranges::find(warnings, warning) == warnings.end()) warnings.push_back(std::move(warning));
      return true;
    });
  }
}

// Leaves out the blocks of builds of other engines than those for which a repository is configured. `engines`
// is empty if it is configured for all.
void limit_blocks(std::vector<manifest::Blocked>& blocked, const std::vector<std::string>& engines) {
  if (engines.empty()) return;
  std::erase_if(blocked, [&](manifest::Blocked& one) {
    if (one.engines.empty()) one.engines = engines;
    std::erase_if(one.engines, [&](const std::string& engine) {
      return std::ranges::find(engines, engine) == engines.end();
    });
    return one.engines.empty();
  });
}

void add_repository(manifest::Catalog& catalog, Result<manifest::RepositoryContent> content,
                    const std::vector<settings::Mirror>& mirrors, std::int64_t now, CatalogOrigin& origin) {
  if (!content) {
    catalog.failures.push_back(std::move(content).error());
    return;
  }
  for (auto& manifest : content->manifests) manifest = with_mirrors(std::move(manifest), mirrors);
  manifest::merge(catalog, *content);
  expires(origin, content->index.expires, now);
  for (const auto& manifest : content->manifests) expires(origin, manifest->expires, now);
}

// Adds installed builds that no repository lists (it is gone, unreachable, or has moved on). A build that one
// request tried from an unsigned repository serves only requests that name that repository.
void add_installed(manifest::Catalog& catalog, const cache::Store& store, const settings::Settings& settings,
                   const std::set<std::string>& engines) {
  std::set<std::pair<std::string, std::string>> listed;
  for (const auto& build : catalog.builds) listed.emplace(build->engine, build->id);
  for (const cache::Installed& summary : store.list()) {
    if (listed.contains({summary.engine, summary.published_id()})) continue;
    // Builds of an installation are offered only while it is requested, and as it is now.
    if (!summary.in_place.empty()) continue;
    if (!summary.only_for.empty() && !settings::lists(settings, summary.only_for)) continue;
    if (!engines.empty() && !engines.contains(summary.engine)) {
      catalog.unread_engines.insert(summary.engine);
      continue;
    }
    const auto record = store.record_of(summary.build);
    if (!record || !*record) continue;
    const std::string name = "the record of the installed " + summary.build;
    const auto document = acquire::published_manifest(**record);
    auto manifest = document ? manifest::read_manifest(*document, "", name) : fail(document.error());
    if (manifest)
      manifest::merge(catalog, std::move(*manifest));
    else
      catalog.failures.push_back(std::move(manifest).error());
  }
}

// Adds the engines of the requested installations, and builds that their CUDA completes.
void add_installations(manifest::Catalog& catalog, const settings::Settings& settings,
                       CatalogOrigin& origin) {
  for (const fs::path& path : settings.installations) {
    // Nobody signed these files.
    if (settings.policy.require_signatures) {
      catalog.failures.push_back(
          std::move(settings::unsigned_refused(settings.policy, "the installation " + path_text(path))
                        .with(Key::installation, path_text(path))));
      continue;
    }
    auto installation = installations::identify(path);
    origin.documents.push_back(path_text(path));
    if (!installation) {
      catalog.failures.push_back(std::move(installation).error());
      continue;
    }
    origin.documents.insert(origin.documents.end(), installation->dependency_stamps.begin(),
                            installation->dependency_stamps.end());
    for (auto& build : installations::completed_builds(*installation, catalog)) {
      origin.documents.insert(origin.documents.end(), build->in_place->dependency_stamps.begin(),
                              build->in_place->dependency_stamps.end());
      catalog.builds.push_back(std::move(build));
    }
    for (auto& manifest : installations::manifests_of(*installation, catalog)) {
      for (const auto& build : manifest->builds)
        origin.documents.insert(origin.documents.end(), build->in_place->dependency_stamps.begin(),
                                build->in_place->dependency_stamps.end());
      manifest::merge(catalog, std::move(manifest));
    }
  }
}

// Calls each build as its record is called.
void name_builds(manifest::Catalog& catalog, const CatalogRequest& request) {
  cache::RecordNames names = names_in(request.store, request.settings, request.now);
  for (auto& build : catalog.builds) {
    std::string name = names.name_of(build->engine, build->id);
    build = manifest::called(std::move(build), std::move(name));
  }
}

// Returns why another user decides what is in a folder repository.
std::optional<Diagnosis> owner_problem(const settings::Repository& repository) {
  if (settings::is_url(repository.location)) return {};
  const fs::path folder = path_of(repository.location);
  auto problem = who_may_change(folder, Purpose::belief).problem;
  return problem
             ? problem
             : who_may_change(folder / "index.json", Purpose::belief, {.above = folder, .sdk = {}}).problem;
}

// A repository that the caller or a configuration allows to be unsigned, or that is trusted by its location,
// may be. So may a folder of this user or of root. Policy can require signatures of all of them.
bool must_be_signed(const settings::Repository& repository, const settings::Policy& policy) {
  if (policy.require_signatures) return true;
  if (belongs_to_the_sdk(repository) || repository.unsigned_allowed) return false;
  return settings::is_url(repository.location) || !policy.unsigned_repositories || owner_problem(repository);
}

// Returns how the repository must be verified. Null: the SDK's own repository is trusted by its location,
// unless policy requires signatures.
const manifest::Trust* proof_of(const settings::Repository& repository, const settings::Policy& policy,
                                manifest::Trust& trust) {
  trust.required = must_be_signed(repository, policy);
  return belongs_to_the_sdk(repository) && !trust.required ? nullptr : &trust;
}

// Replaces a missing signature by EH-P01 if only policy requires one, because then policy is the reason.
Diagnosis by_policy(Diagnosis failure, const settings::Repository& repository, const settings::Policy& policy,
                    manifest::DocumentReader& reader) {
  const bool by_policy = policy.require_signatures || !policy.unsigned_repositories;
  const bool lacks_signatures =
      failure.code == Code::too_few_signatures || failure.code == Code::key_not_trusted;
  if (by_policy && lacks_signatures &&
      !reader.read(manifest::below(repository.location, "root.json"), 8u << 20))
    failure = std::move(
        settings::unsigned_refused(policy, "the repository " + repository.location + ", which nobody signed")
            .with(Key::repository, repository.location));
  // A forbidden repository of the caller fails the request (fetch.hpp); one of a configuration is left out.
  const bool is_forbidden = failure.code == Code::forbidden_by_policy;
  if (repository.by_caller && is_forbidden) failure.with(Key::flag, repository.source);
  if (repository.by_caller && lacks_signatures) failure.with(Key::named_by, repository.source);
  if (lacks_signatures)
    if (const auto problem = owner_problem(repository))
      failure.with(Key::owner_problem, std::string(problem->value(Key::problem)));
  return failure;
}

// Loads any repository with its reader and its trust.
Result<manifest::RepositoryContent> load(const CatalogRequest& request,
                                         const settings::Repository& repository,
                                         manifest::DocumentReader& reader, const manifest::Trust* proof) {
  // The last seen version of a signed repository is kept in the state folder.
  auto content = settings::mark_as_state(
      manifest::load_repository(repository.location, reader, request.now, proof, request.engines),
      request.settings);
  if (!content)
    return fail(by_policy(std::move(content).error(), repository, request.settings.policy, reader));
  return content;
}

// Adds the blocks that any repository ever said. They hold while it cannot be read, because an attacker could
// otherwise unblock a build by making it unreachable; and while the request does not name it.
void add_known_blocks(manifest::Catalog& catalog, const settings::Settings& settings,
                      const manifest::TrustStore& trust) {
  const auto known = trust.all_seen();
  if (!known) {
    catalog.failures.push_back(known.error());
    return;
  }
  for (const auto& [location, seen] : *known) {
    const bool of_the_request = settings::lists(settings, location);
    std::vector<std::string> keys;
    if (const auto document = parse_json(seen.root, location); document && !of_the_request)
      if (const auto root = manifest::read_root(*document, location))
        for (const manifest::RootKey& key : root->keys) keys.push_back(key.key.id);
    std::vector<manifest::Blocked> blocked = seen.blocked;
    const auto trusted = trust.keys_for(location);
    for (manifest::Blocked& one : blocked)
      if (one.engines.empty() && trusted) one.engines = manifest::engines_of(*trusted, seen);
    for (const settings::Repository& repository : settings.repositories)
      if (identity_of_location(repository.location) == identity_of_location(location))
        limit_blocks(blocked, repository.engines);
    for (manifest::Blocked& one : blocked) {
      if (std::find(catalog.blocked.begin(), catalog.blocked.end(), one) != catalog.blocked.end()) continue;
      one.everywhere = of_the_request;
      one.keys = keys;
      catalog.blocked.push_back(std::move(one));
    }
  }
}

void add_blocks(manifest::Catalog& catalog, const settings::Settings& settings,
                const manifest::TrustStore& trust) {
  for (const std::string& digest : settings.policy.blocked)
    catalog.blocked.push_back({digest, "forbidden here", settings.policy.file});
  add_known_blocks(catalog, settings, trust);
}

void block_and_expire(manifest::Catalog& catalog, const settings::Settings& settings,
                      const manifest::TrustStore& trust, const cache::Store& store) {
  add_blocks(catalog, settings, trust);
  manifest::mark(catalog, [&](const std::string& build) {
    manifest::InstalledAs as;
    const auto record = store.record_of(build);
    if (!record || !*record) return as;
    as.digests = (*record)->trees;
    as.digests.push_back((*record)->digest);
    as.origin = (*record)->origin;
    as.signers = (*record)->signers;
    return as;
  });
}

// Asks the signed repositories that installed builds came from and that the request does not name, because
// one of those builds may have been withdrawn. Only with a request that uses the network anyway; each at most
// once an hour. A failure is not reported: the request did not ask for it, and the next one tries again.
void ask_origins(const CatalogRequest& request, const manifest::TrustStore& store_of_trust,
                 SilentServers& silent) {
  const settings::Settings& settings = request.settings;
  std::set<std::string> origins;
  for (const cache::Installed& summary : request.store.list())
    if (!summary.signers.empty() && settings::is_url(summary.origin) &&
        !settings::lists(settings, summary.origin) &&
        settings::lies_in(summary.origin, settings.policy.allowed_repositories))
      origins.insert(summary.origin);
  for (const std::string& location : origins) {
    CatalogOrigin unused;
    CachedReader reader(request, location, silent, unused, !settings.refresh);
    if (settings.refresh) reader.ask_again();
    manifest::Trust trust = trust_in(store_of_trust, settings, false);
    trust.required = true;
    static_cast<void>(manifest::load_index(location, reader, request.now, trust));
  }
}

}  // namespace

manifest::TrustStore trust_store(const settings::Settings& settings) {
  // A key decides whose code runs. Keys in a read-only folder count only if nobody else can write there.
  const fs::path& read = settings.read_state_folder;
  const bool guarded = !read.empty() && !cache::layer_problem(read) && !cache::layer_problem(read / "trust");
  return manifest::TrustStore(settings.state_folder, settings.system_layers, guarded ? read : fs::path());
}

manifest::Trust trust_in(const manifest::TrustStore& store, const settings::Settings& settings,
                         bool offline) {
  manifest::Trust trust{store, false, offline, {}};
  if (settings.policy.max_staleness_days)
    trust.max_staleness_seconds = *settings.policy.max_staleness_days * 86'400;
  return trust;
}

std::optional<Diagnosis> block_of(const settings::Settings& settings, const manifest::TrustStore& trust,
                                  const std::shared_ptr<const manifest::Build>& build,
                                  const manifest::InstalledAs& as,
                                  const std::vector<manifest::Blocked>& more) {
  manifest::Catalog catalog;
  catalog.builds = {build};
  catalog.blocked = more;
  add_blocks(catalog, settings, trust);
  if (!catalog.failures.empty()) return std::move(catalog.failures.front());
  manifest::mark(catalog, [&](const std::string&) { return as; });
  const std::string& reason = catalog.builds.front()->blocked;
  if (reason.empty()) return {};
  return std::move(diagnose(Code::build_blocked).with(Key::build, build->id).with(Key::reason, reason));
}

cache::RecordNames names_in(const cache::Store& store, const settings::Settings& settings, std::int64_t now) {
  cache::RecordNames names(store.list());
  if (settings.state_folder.empty()) return names;
  const history::ReadResult records = history::read(settings.state_folder, now);
  for (const auto& [name, record] : records.history.records)
    if (history::is_on_record_against(record)) names.reserve(name, record.engine);
  return names;
}

OwnRepository own_repository(const settings::Settings& settings) {
  const std::string location = settings::own_repository(settings);
  if (location.empty()) return {};
  const std::string name = manifest::below(location, "index.json");
  const auto index =
      read_file(path_of(name), 8u << 20)
          .and_then([&](const std::string& text) { return parse_json(text, name); })
          .and_then([&](const Json& document) { return manifest::read_index(document, name); });
  if (!index) return {};
  OwnRepository own;
  own.location = location;
  for (const manifest::IndexEntry& entry : index->manifests) own.manifests.insert(entry.sha256);
  return own;
}

manifest::Catalog load_catalog(const CatalogRequest& request, CatalogOrigin& origin) {
  const settings::Settings& settings = request.settings;
  manifest::Catalog catalog;
  const manifest::TrustStore store_of_trust = trust_store(settings);
  SilentServers silent;
  const auto load_one = [&](const settings::Repository& repository) {
    Loaded loaded;
    manifest::Trust trust = trust_in(store_of_trust, settings, request.transfer.offline);
    const manifest::Trust* proof = proof_of(repository, settings.policy, trust);
    if (proof != nullptr)
      for (const fs::path& file : store_of_trust.files(repository.location))
        loaded.origin.documents.push_back(path_text(file));
    if (!settings::is_url(repository.location)) {
      NotingReader reader(loaded.origin);
      loaded.content = load(request, repository, reader, proof);
      loaded.facts = offered_facts(request, repository, loaded.content, reader);
      return loaded;
    }
    CachedReader reader(request, repository.location, silent, loaded.origin,
                        request.spare_unreached && !repository.by_caller);
    // A repository on the command line is asked for its present answer. An application names it at every
    // open.
    if (settings.refresh || (repository.by_caller && !settings.by_application)) reader.ask_again();
    loaded.content = load(request, repository, reader, proof);
    loaded.facts = offered_facts(request, repository, loaded.content, reader);
    loaded.warnings = std::move(reader.warnings);
    loaded.has_asked = reader.has_asked();
    return loaded;
  };
  std::vector<std::future<Loaded>> loads;
  const auto urls = std::ranges::count_if(
      settings.repositories, [](const settings::Repository& one) { return settings::is_url(one.location); });
  for (const settings::Repository& repository : settings.repositories)
    loads.push_back(start(urls > 1 && settings::is_url(repository.location) && loads.size() < most_at_once,
                          [&load_one, one = &repository] { return load_one(*one); }));
  bool online = false;
  std::vector<Answer> answers;
  std::vector<OfferedFacts> facts;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    Loaded loaded = loads[i].get();
    answers.push_back({&settings.repositories[i], std::move(loaded.content)});
    if (loaded.facts) facts.push_back(std::move(*loaded.facts));
    catalog.warnings.insert(catalog.warnings.end(), loaded.warnings.begin(), loaded.warnings.end());
    online = online || loaded.has_asked;
    for (std::string& one : loaded.origin.documents) origin.documents.push_back(std::move(one));
    origin.fresh_until = std::min(origin.fresh_until, loaded.origin.fresh_until);
    origin.spared = origin.spared || loaded.origin.spared;
    if (loaded.origin.unasked) origin.unasked = std::move(loaded.origin.unasked);
  }
  remove_unanswered(answers, catalog.warnings);
  for (Answer& answer : answers)
    if (answer.content) limit_blocks(answer.content->index.blocked, answer.repository->engines);
  for (Answer& answer : answers)
    add_repository(catalog, std::move(answer.content), settings.mirrors, request.now, origin);
  if ((online || settings.refresh) && !request.transfer.offline) ask_origins(request, store_of_trust, silent);
  if (!store_of_trust.folder().empty()) origin.documents.push_back(path_text(store_of_trust.folder()));
  add_installed(catalog, request.store, settings, request.engines);
  // A skipped layer is not an empty layer.
  origin.passed_over = cache::layers_passed_over(request.store.layers());
  use_vendor_facts(request, std::move(facts), catalog, origin);  // by which installations are recognized
  add_installations(catalog, settings, origin);
  name_builds(catalog, request);
  block_and_expire(catalog, settings, store_of_trust, request.store);
  return catalog;
}

Result<manifest::RepositoryContent> with_reader(const CatalogRequest& request,
                                                const settings::Repository& repository,
                                                const RepositoryUse& use) {
  CatalogOrigin origin;
  const manifest::TrustStore store_of_trust = trust_store(request.settings);
  manifest::Trust trust = trust_in(store_of_trust, request.settings, request.transfer.offline);
  const manifest::Trust* proof = proof_of(repository, request.settings.policy, trust);
  if (settings::is_url(repository.location)) {
    SilentServers silent;
    CachedReader reader(request, repository.location, silent, origin);
    return use(reader, proof);
  }
  NotingReader reader(origin);
  return use(reader, proof);
}

}  // namespace enginehost::catalog
