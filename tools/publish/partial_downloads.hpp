// How an archive can be downloaded in parts: the ranges of selected files, and the digests of chunks.
#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/result.hpp"
#include "cache/tree_list.hpp"
#include "host/acquire/zip_directory.hpp"
#include "host/manifest/catalog.hpp"
#include "host/transfer/chunk_list.hpp"
#include "host/transfer/download.hpp"

namespace enginehost::publish {

// Returns the parts of a local archive, of artifact.size bytes, that hold these files: manifest::Artifact's
// `ranges`. Files that lie near each other share a range. Returns nothing if the whole archive is better:
// each request must save a MiB. Errors: EH-F21 if the archive's directory does not say where the files are.
Result<std::vector<transfer::Range>> ranges_to_fetch(const std::filesystem::path& archive,
                                                     const manifest::Artifact& artifact,
                                                     const std::vector<cache::TreeEntry>& files);
// The same of an archive whose directory was read.
Result<std::vector<transfer::Range>> ranges_to_fetch(const acquire::ZipDirectory& directory,
                                                     const manifest::Artifact& artifact,
                                                     const std::vector<cache::TreeEntry>& files);

constexpr std::uint64_t usual_chunk = std::uint64_t{8} << 20;

// Reads the file once. EH-N14 with "file" if it cannot be read.
Result<transfer::ChunkList> chunk_list_of(const std::filesystem::path& file,
                                          std::uint64_t chunk = usual_chunk);

}  // namespace enginehost::publish
