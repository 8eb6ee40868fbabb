// The releases of a project, as the package index lists them now.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/cancel.hpp"
#include "base/result.hpp"
#include "host/transfer/options.hpp"
#include "host/transfer/transfer.hpp"

namespace enginehost::follow {

// A file of a release. Its name, version and digest are the index's own; the URL is absolute.
struct PublishedFile {
  std::string project, version, file, url, sha256;
  std::optional<std::uint64_t> size;
  std::int64_t uploaded = 0;  // seconds since 1970; 0: the index does not say
  std::string yanked;         // reason, "" if it is not
  // For requests to it; see place_of().
  std::shared_ptr<const transfer::TransferOptions> options;
};

// Returns where the file is, with pip's certificates, proxy and trusted hosts.
transfer::Place place_of(const PublishedFile& file);

struct Release {
  std::string version;
  std::vector<PublishedFile> files;
};

// A file or a release that is not used, and why.
struct LeftOut {
  std::string project, version, file, reason;
};

// Asks each project once.
class Index {
 public:
  virtual ~Index() = default;
  // Newest first, by the order of versions (base/version.hpp). Names that are no wheel's name, and versions
  // that are none, are left out and counted. Errors: as transfer::locate_package(), for the project.
  virtual Result<std::vector<Release>> releases(const std::string& project) = 0;
};

// A project of the package index that pip is configured for. One thread at a time.
class PackageIndex : public Index {
 public:
  PackageIndex(transfer::TransferOptions options, std::optional<CancelToken> cancel)
      : options_(std::move(options)), cancel_(std::move(cancel)) {}
  Result<std::vector<Release>> releases(const std::string& project) override;
  // Files without a usable name or digest, and releases with too many files, of all projects asked until now.
  const std::vector<LeftOut>& left_out() const { return left_out_; }

 private:
  Result<std::vector<Release>> ask(const std::string& project);

  transfer::TransferOptions options_;
  std::optional<CancelToken> cancel_;
  std::vector<std::pair<std::string, Result<std::vector<Release>>>> asked_;
  std::vector<LeftOut> left_out_;
};

// Limit of one release. The whole page of torch has 987 files.
constexpr std::size_t most_files_of_release = 1000;

}  // namespace enginehost::follow
