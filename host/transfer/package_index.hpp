// Python's package index as pip would use it here: asked of pip, never assumed.
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
  std::string certificate;              // a CA bundle pip is told to use, or empty
  std::string reported_by;              // "pip config", "pip install --help", "configuration"
};

// Asks pip (python3 -m pip, pip3, pip; the first that answers), once a process. EH-N12 ("asked", "problem")
// when no pip answers and options.package_index is empty.
Result<PackageIndex> package_index(const TransferOptions& options,
                                   const std::optional<CancelToken>& cancel = {});

struct PackageFile {
  std::string url;             // or:
  std::filesystem::path path;  // a file in a find-links folder
  std::string certificate;     // for UrlRequest::ca_bundle
  std::optional<std::uint64_t> size;
};

// Where the index has that very file. EH-N13 ("project", "file", "index") when it has not, or lists it with
// another sha256 than ours (`sha256` may be empty); EH-N12 when the index cannot be asked; EH-N10 offline.
Result<PackageFile> locate_package(std::string_view project, std::string_view file, std::string_view sha256,
                                   const TransferOptions& options,
                                   const std::optional<CancelToken>& cancel = {});

}  // namespace enginehost::transfer
