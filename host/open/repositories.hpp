// All configured repositories, and what is installed, as one catalog.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "cache/store.hpp"
#include "host/manifest/catalog.hpp"
#include "host/manifest/repository.hpp"
#include "host/manifest/trust/trust_store.hpp"
#include "host/settings/settings.hpp"
#include "host/transfer/options.hpp"

namespace enginehost::open {

// What a catalog was read from, for who wants to know later whether it would still be the same.
struct CatalogOrigin {
  // Files on disk, and a change of one may change the catalog: indexes and signatures of folders, and the
  // kept ones of URLs. Manifests that were had by the digest in an index are not among them.
  std::vector<std::string> documents;
  std::int64_t fresh_until = INT64_MAX;  // seconds since 1970: when one is asked for again, or expires
  std::vector<Diagnosis> passed_over;    // system layers that nothing is taken from, though they are there
  bool spared = false;                   // a repository was not asked, see load_catalog's `spare_unreached`
};

// The user's trust store, over those of the system layers and of a state folder that is only read, unless
// that belongs to somebody else or everybody may write into it.
manifest::TrustStore trust_store(const settings::Settings& settings);
// What policy demands of every repository; `store` must outlive it.
manifest::Trust trust_in(const manifest::TrustStore& store, const settings::Settings& settings, bool offline);

// Reads every repository of the settings, strongest first, and adds the installed builds that none of them
// lists (any more), so that what is installed can be opened without its repository, and the engines of
// Settings::installations. Documents of URL
// repositories are kept below <cache>/repositories and asked for again after an hour; without a network the
// kept ones serve, with a warning. Whether a repository has to be signed, and by whom, is
// docs/publishing.md's "What a user's machine checks". Never fails as a whole: what could not be read is in
// Catalog::failures and ::warnings. Opens no socket when transfer.offline. Fills in `origin`. Any thread.
// With `spare_unreached` a repository that could not be reached in the last five minutes is not asked again,
// unless the command line names it: that it was not reached is told as it was then.
manifest::Catalog load_catalog(const settings::Settings& settings, const cache::Store& store,
                               const transfer::TransferOptions& transfer, std::int64_t now,
                               CatalogOrigin& origin, const std::optional<CancelToken>& cancel = {},
                               bool spare_unreached = false);

// Reads one repository as load_catalog does, and hands on every document as it came: with its location, or,
// when it is one that was kept by digest, with an empty one.
using DocumentObserver = std::function<void(const std::string& location, const std::string& bytes)>;
Result<manifest::RepositoryContent> read_repository(const settings::Settings& settings,
                                                    const settings::Repository& repository,
                                                    const cache::Store& store,
                                                    const transfer::TransferOptions& transfer,
                                                    std::int64_t now, const DocumentObserver& stamp,
                                                    const std::optional<CancelToken>& cancel = {});

}  // namespace enginehost::open
