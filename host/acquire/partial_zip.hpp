// Single files of a zip archive, fetched by byte ranges.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "cache/tree_list.hpp"
#include "host/acquire/acquire.hpp"
#include "host/acquire/zip_directory.hpp"
#include "host/transfer/download.hpp"

namespace enginehost::acquire {

// Reads the archive's directory and the entries of the `wanted` files, and unpacks these below `into`.
// Returns the source and how many bytes came from it. The caller must compare digests, because nothing is
// verified here.
//
// Errors: EH-N02 ("problem") if the server sends only whole files. EH-F21 if the entries cannot be found or
// decoded one by one. Disk failures as cache::TreeWriter.
Result<std::string> unpack_parts(const transfer::Place& source, const manifest::Artifact& artifact,
                                 const std::vector<cache::TreeEntry>& wanted,
                                 const std::filesystem::path& into, const AcquireOptions& options,
                                 const std::optional<CancelToken>& cancel);

// Returns the ranges of an archive that hold the wanted entries with their headers; adjacent ones are merged.
// Errors: EH-F21 if the directory does not say where the files are.
Result<std::vector<transfer::Range>> ranges_of(const ZipDirectory& directory,
                                               const manifest::Artifact& artifact,
                                               const std::vector<cache::TreeEntry>& wanted);

}  // namespace enginehost::acquire
