// Reads documents of one URL repository, through copies that are kept in the cache.
#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "base/diagnosis.hpp"
#include "cache/store.hpp"
#include "host/catalog/repositories.hpp"
#include "host/catalog/unreached.hpp"
#include "host/manifest/repository.hpp"
#include "host/transfer/document_fetcher.hpp"
#include "host/transfer/options.hpp"

namespace enginehost::catalog {

// Returns the folder for copies of its documents; empty without a cache.
std::filesystem::path folder_of_copies(const cache::Store& store, const std::string& location);

// A copy serves for an hour. Without a network it serves however old it is, with a warning. Only verified
// documents are kept. One thread at a time.
class CachedReader : public manifest::DocumentReader {
 public:
  CachedReader(const CatalogRequest& request, const std::string& location, SilentServers& silent_servers,
               CatalogOrigin& origin, bool spare_unreached = false);

  void expect(const std::vector<manifest::Expected>& documents) override;
  Result<std::string> read(const std::string& location, std::uint64_t limit) override;

  // Returns whether the server sent a document.
  bool has_asked() const { return came_ > 0; }
  // From now on asks the server for documents, unless offline.
  void ask_again() { refetch_ = !transfer_.offline; }

  bool refetch() override;
  bool refetch_older_than(std::int64_t seconds) override { return oldest_kept_ > seconds && refetch(); }
  void accept() override;
  std::optional<std::string> kept(const std::string& sha256) override;
  void keep(const std::string& sha256, const std::string& bytes) override;

  std::vector<std::string> warnings;

 private:
  using Milliseconds = std::chrono::milliseconds;

  std::int64_t age_of_usable_copy(const std::string& location) const;
  Result<std::string> ask(const std::string& location, std::uint64_t limit);
  bool may_ask(const std::string& location);
  void fetch(const std::vector<manifest::Expected>& documents);
  std::filesystem::path note_of_unreached() const;
  std::filesystem::path place_of(const std::string& location) const;

  std::map<std::string, std::string> fresh_;            // what was read of the server, not yet kept
  std::map<std::string, Result<std::string>> arrived_;  // answers that were not read yet
  std::optional<Diagnosis> silent_;
  Milliseconds spent_{0};
  int came_ = 0;
  bool refetch_ = false;
  bool reported_late_ = false;    // a warning says that a document did not come in time
  std::int64_t oldest_kept_ = 0;  // age in seconds of the oldest kept copy that was used
  std::filesystem::path folder_;
  const transfer::TransferOptions& transfer_;
  SilentServers& silent_servers_;
  transfer::DocumentFetcher fetcher_;
  std::int64_t now_;
  CatalogOrigin& origin_;
  bool spare_unreached_;
};

}  // namespace enginehost::catalog
