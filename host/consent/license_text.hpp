// The texts of licenses, kept in the cache by their digest: <cache>/blobs/sha256/<digest>.
//
// Thread safety: any thread.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "base/cancel.hpp"
#include "cache/store.hpp"
#include "host/manifest/catalog.hpp"
#include "host/transfer/options.hpp"

namespace enginehost::consent {

// Returns the text from the writable cache or a layer, if it is there and has that digest.
std::optional<std::string> kept_text(const cache::Store& store, const std::string& sha256);

// Returns the file that kept_text() reads, or that keep_text() would write.
std::filesystem::path text_file(const cache::Store& store, const std::string& sha256);

// Keeps a text and returns its digest. EH-F15, EH-F16.
Result<std::string> keep_text(const cache::Store& store, const std::string& text);

// Returns the text of a license, at most 4 MiB. Takes the kept text first, then the component file that the
// manifest names (extracted alone from its archive), then the license's URL. Keeps a text that it fetched.
// `build` is a build that the license covers; null: components are not searched.
//
// Errors: EH-N08 ("url", "expected_sha256", "actual_sha256") if the text is not the one that the manifest
// names, or contains a NUL ("nul"), behind which programs show nothing. EH-N10 offline. EH-P06 ("license") if
// the manifest names neither file nor URL. Otherwise those of acquire::file_of_component and
// transfer::fetch_text.
Result<std::string> license_text(const cache::Store& store, const manifest::License& license,
                                 const manifest::Build* build, const transfer::TransferOptions& transfer,
                                 const std::optional<CancelToken>& cancel = {});

}  // namespace enginehost::consent
