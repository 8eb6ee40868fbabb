// The releases of a project, as the package index lists them now.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "base/result.hpp"
#include "host/transfer/options.hpp"

namespace enginehost::follow {

// A file of a release. Its name, version and digest are the index's own; the URL is absolute.
struct PublishedFile {
  std::string project, version, file, url, sha256;
  std::optional<std::uint64_t> size;
  std::int64_t uploaded = 0;  // seconds since 1970; 0: the index does not say
  std::string yanked;         // reason, "" if it is not
};

struct Release {
  std::string version;
  std::vector<PublishedFile> files;
};

// Asks each project once.
class Index {
 public:
  virtual ~Index() = default;
  // Newest first, by the order of versions (base/version.hpp). Names that are no wheel's name, and versions
  // that are none, are left out and counted. Errors: as transfer::locate_package(), for the project.
  virtual Result<std::vector<Release>> releases(const std::string& project) = 0;
};

}  // namespace enginehost::follow
