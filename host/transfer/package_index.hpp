// Python's package index as pip would use it on this machine. pip's configuration is read; pip is run only to
// find out its default index.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "host/transfer/package_page.hpp"
#include "host/transfer/transfer.hpp"

namespace enginehost::transfer {

// Returns the place of exactly that file, with pip's certificates, proxy and trusted hosts for requests to
// it, and its size if the index says it. options.package_index is the only index if it is set; otherwise
// pip's find-links, index-url and extra-index-url are searched, in this order.
//
// Errors: EH-N13 ("project", "file", "index") if no index has it, lists it with another sha256 (`sha256` may
// be empty), or has a page that cannot be read ("problem"; "size" and "limit" of a page that is too long).
// EH-N12 if none is known, and EH-N18 if pip, which knows its default, fails; see ask_pip(). EH-N17 if pip's
// configuration cannot be used. Those of fetch_text() for an index that cannot be asked, with "project" and
// "index". EH-N10 offline. Any thread.
Result<Place> locate_package(std::string_view project, std::string_view file, std::string_view sha256,
                             const TransferOptions& options, const std::optional<CancelToken>& cancel = {});

// The files of a project in all indexes that pip would ask.
struct PackageFiles {
  // Each name once, as locate_package() finds it; the URLs are absolute. Files that a page lists without a
  // URL that counts are here, too: their URL is empty.
  std::vector<ListedFile> files;
  TransferOptions options;  // for requests to them, with pip's certificates, proxy and trusted hosts
};

// Asks every location once, because the newest release may be in the last one. Errors: as locate_package(),
// also if one of several locations cannot be asked or read: its files would seem to be gone. They have no
// "file". Any thread.
Result<PackageFiles> list_package(std::string_view project, const TransferOptions& options,
                                  const std::optional<CancelToken>& cancel = {});

// Returns the URLs that locate_package() asks, as far as they are known without running pip; nothing if only
// pip knows its default. Reads pip's configuration. Any thread.
std::vector<std::string> known_indexes(const TransferOptions& options);

}  // namespace enginehost::transfer
