// Python's package index as pip would use it on this machine. pip is run to find out; nothing is assumed.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "host/transfer/transfer.hpp"

namespace enginehost::transfer {

struct PackageIndex {
  std::vector<std::string> urls;        // the index, then the extra ones
  std::vector<std::string> find_links;  // local folders only
  std::string certificate;              // the CA bundle that pip is configured to use, or empty
  std::string reported_by;              // "pip config", "pip install --help", "configuration"
};

// Runs pip (python3 -m pip, pip3, pip; the first that works), once per process. EH-N12 ("asked", "problem")
// if none works and options.package_index is empty.
Result<PackageIndex> package_index(const TransferOptions& options,
                                   const std::optional<CancelToken>& cancel = {});

struct PackageFile {
  std::string url;             // or:
  std::filesystem::path path;  // a file in a find-links folder
  std::string certificate;     // for UrlRequest::ca_bundle
  std::optional<std::uint64_t> size;
};

// Returns the location of exactly that file in the index. EH-N13 ("project", "file", "index") if the index
// does not have it, lists it with another sha256 (`sha256` may be empty), or has a page that cannot be read
// ("problem"; "size" and "limit" of a page that is too long). EH-N12 if the index cannot be
// reached. EH-N10 offline.
Result<PackageFile> locate_package(std::string_view project, std::string_view file, std::string_view sha256,
                                   const TransferOptions& options,
                                   const std::optional<CancelToken>& cancel = {});

}  // namespace enginehost::transfer
