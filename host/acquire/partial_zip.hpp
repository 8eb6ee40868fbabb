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

namespace enginehost::acquire {

struct PartSource {
  std::string where;                   // a URL or an absolute path
  transfer::TransferOptions transfer;  // for this source
  std::optional<std::uint64_t> size;
};

// Reads the archive's directory and the entries of the `wanted` files, and unpacks these below `into`.
// Returns the source and how many bytes came from it. The caller must compare digests, because nothing is
// verified here.
//
// Errors: EH-N02 ("problem") if the server sends only whole files. EH-F21 if the entries cannot be found or
// decoded one by one. Disk failures as cache::TreeWriter.
Result<std::string> unpack_parts(const PartSource& source, const manifest::Artifact& artifact,
                                 const std::vector<cache::TreeEntry>& wanted,
                                 const std::filesystem::path& into, const AcquireOptions& options,
                                 const std::optional<CancelToken>& cancel);

// Returns the parts of a local archive, of artifact.size bytes, that hold these files: manifest::Artifact's
// `ranges`. Files that lie near each other share a range. Returns nothing if the whole archive is better:
// each request must save a MiB. Errors: EH-F21 if the archive's directory does not say where the files are.
Result<std::vector<transfer::Range>> ranges_to_fetch(const std::filesystem::path& archive,
                                                     const manifest::Artifact& artifact,
                                                     const std::vector<cache::TreeEntry>& files);

}  // namespace enginehost::acquire
