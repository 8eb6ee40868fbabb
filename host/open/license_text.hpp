// The texts of licenses, kept in the cache by their digest: <cache>/blobs/sha256/<digest>.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "base/cancel.hpp"
#include "cache/store.hpp"
#include "host/manifest/catalog.hpp"
#include "host/transfer/options.hpp"

namespace enginehost::open {

// Of the writable cache or a layer, when it is there and has that digest. Any thread.
std::optional<std::string> kept_text(const cache::Store& store, const std::string& sha256);

// Where kept_text() found it, or keep_text() would put it.
std::filesystem::path text_file(const cache::Store& store, const std::string& sha256);

// Keeps a text and returns its digest. EH-F15, EH-F16.
Result<std::string> keep_text(const cache::Store& store, const std::string& text);

// The kept text; else the file of a component that the manifest names as the text, brought alone out of its
// archive; else what the license's URL gives. What was brought is kept. EH-N08 ("url", "expected_sha256",
// "actual_sha256") when that is not the text the manifest names; EH-N10 offline; EH-P06 ("license") when the
// manifest names neither; else as acquire::file_of_component or transfer::fetch_text. At most 4 MiB.
// `build` is one that the license covers; nullptr: its components are not asked.
Result<std::string> license_text(const cache::Store& store, const manifest::License& license,
                                 const manifest::Build* build, const transfer::TransferOptions& transfer,
                                 const std::optional<CancelToken>& cancel = {});

}  // namespace enginehost::open
