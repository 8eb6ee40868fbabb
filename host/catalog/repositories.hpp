// Reads all configured repositories and the installed builds as one catalog.
//
// Thread safety: any thread.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "cache/record_names.hpp"
#include "cache/store.hpp"
#include "host/manifest/catalog.hpp"
#include "host/manifest/repository.hpp"
#include "host/manifest/trust/trust_store.hpp"
#include "host/resolve/plan.hpp"
#include "host/settings/settings.hpp"
#include "host/transfer/options.hpp"

namespace enginehost::catalog {

// How repositories are read.
struct CatalogRequest {
  const settings::Settings& settings;
  const cache::Store& store;
  const transfer::TransferOptions& transfer;
  std::int64_t now;  // seconds since 1970
  std::optional<CancelToken> cancel = {};
  // Does not ask a repository again that was unreachable in the last five minutes, unless the command line
  // names it; its earlier failure is reported.
  bool spare_unreached = false;
  // Not empty: manifests and records that are known to be of other engines are not read
  // (Catalog::unread_engines).
  std::set<std::string> engines = {};
};

// The sources of a catalog, by which a later open checks whether it would read the same.
struct CatalogOrigin {
  // Files whose change may change the catalog: indexes and signatures of folders, and the kept copies of
  // those of URLs. Manifests named by a digest in an index are not listed.
  std::vector<std::string> documents;
  std::int64_t fresh_until = INT64_MAX;  // seconds since 1970: first refresh or expiry of a document
  std::vector<Diagnosis> passed_over;    // system layers that exist but are skipped
  std::optional<Diagnosis> unasked;      // why an index could not be asked, and an older copy of it serves
  bool spared = false;                   // a repository was skipped, see CatalogRequest::spare_unreached
};

// Returns the user's trust store, over those of the system layers and of a read-only state folder. That
// folder is left out if it belongs to another user or is writable for everyone.
manifest::TrustStore trust_store(const settings::Settings& settings);
// Returns what policy requires of every repository; `store` must outlive it.
manifest::Trust trust_in(const manifest::TrustStore& store, const settings::Settings& settings, bool offline);

// Returns the location of EngineHost's own repository and the digests of its manifests; empty if it is not
// used or cannot be read.
struct OwnRepository {
  std::string location;
  std::set<std::string> manifests;
};
OwnRepository own_repository(const settings::Settings& settings);

// Returns the names of the builds in a store. A name under which a build failed here, or was disabled, stays
// that of its engine, although the build is not installed now.
cache::RecordNames names_in(const cache::Store& store, const settings::Settings& settings, std::int64_t now);

// Returns EH-M14 ("build", "reason") if the policy, a repository that this machine has ever read, or `more`
// blocks the build. `as`: as it is or would be installed. Fails closed: a state folder that cannot be read is
// returned as the reason.
std::optional<Diagnosis> block_of(const settings::Settings& settings, const manifest::TrustStore& trust,
                                  const std::shared_ptr<const manifest::Build>& build,
                                  const manifest::InstalledAs& as,
                                  const std::vector<manifest::Blocked>& more);

// Reads every repository of the settings, highest priority first. Adds the installed builds that no
// repository lists, so that they can be opened without their repository, and the engines of
// Settings::installations.
//
// Documents of URL repositories are kept below <cache>/repositories and fetched again after an hour. Without
// a network the kept copies are used, with a warning. Which repositories must be signed, and by which keys,
// is in docs/publishing.md, "What a user's machine checks".
//
// Never fails as a whole: failures are in Catalog::failures and ::warnings. Opens no socket if
// transfer.offline. Fills in `origin`.
manifest::Catalog load_catalog(const CatalogRequest& request, CatalogOrigin& origin);

// Calls `use` with the reader of one repository and the signatures that settings require of it (null: none).
// Returns its result.
using RepositoryUse =
    std::function<Result<manifest::RepositoryContent>(manifest::DocumentReader&, const manifest::Trust*)>;
Result<manifest::RepositoryContent> with_reader(const CatalogRequest& request,
                                                const settings::Repository& repository,
                                                const RepositoryUse& use);

// Returns the manifest with mirror sources: before each source whose URL begins with a mirror's `of`, the
// same file below its `use`. The original stays as the next source. Returns the same manifest if no mirror
// applies. Digests stay the manifest's, so that a mirror need not be trusted.
std::shared_ptr<const manifest::Manifest> with_mirrors(std::shared_ptr<const manifest::Manifest> manifest,
                                                       const std::vector<settings::Mirror>& mirrors);

// The failures of the repositories of a catalog, explained to a request.

// Returns the plan's diagnosis, or the reason why builds are unknown. "Unknown engine" and "no build fits"
// are not the cause while a repository cannot be reached or is not as published. Further failures are in
// "also".
std::optional<Diagnosis> why_nothing_is_known(const manifest::Catalog& catalog, const resolve::Plan& plan);

// Returns EH-P01 for a repository that the command line or the request names and policy forbids. It is the
// answer whatever other repositories offer. A forbidden repository of a configuration file is left out, with
// a warning.
std::optional<Diagnosis> forbidden_by_name(const manifest::Catalog& catalog);

// Returns each repository and manifest that could not be read, once, as warnings for a request that succeeds
// anyway. Omits repositories that were not asked because the request is offline.
std::vector<Diagnosis> catalog_warnings(const manifest::Catalog& catalog, bool offline);

}  // namespace enginehost::catalog
