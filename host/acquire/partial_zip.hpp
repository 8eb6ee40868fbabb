// Single files of a zip archive, fetched by byte ranges.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "cache/tree_list.hpp"
#include "host/acquire/acquire.hpp"
#include "host/acquire/growing_file.hpp"
#include "host/acquire/zip_directory.hpp"
#include "host/transfer/download.hpp"
#include "host/transfer/transfer.hpp"

namespace enginehost::acquire {

// A zip archive behind a source, of which only parts are fetched. Nothing is verified here: the caller
// compares digests. One thread.
class PartialZip {
 public:
  // Fetches the directory. `scratch` exists; what is fetched stays there until the caller removes it.
  // `options` must outlive this object. Errors: EH-N02 ("problem") if the server sends only whole files.
  // EH-F21 if the directory is broken or larger than 64 MiB.
  static Result<PartialZip> open(const transfer::Place& source, const std::filesystem::path& scratch,
                                 const AcquireOptions& options, const std::optional<CancelToken>& cancel);

  const ZipDirectory& directory() const { return directory_; }
  std::uint64_t size() const { return size_; }          // of the archive
  std::uint64_t received() const { return received_; }  // bytes that came, until now
  const std::string& where() const { return where_; }   // the source, for people

  // Unpacks the entries of the `wanted` files below `into`. Errors: EH-F21 if the entries cannot be found or
  // decoded one by one. Disk failures as cache::TreeWriter.
  Result<void> unpack(const manifest::Artifact& artifact, const std::vector<cache::TreeEntry>& wanted,
                      const std::filesystem::path& into);

 private:
  PartialZip(const transfer::Place& source, const std::filesystem::path& scratch,
             const AcquireOptions& options, const std::optional<CancelToken>& cancel)
      : source_(source), scratch_(scratch), options_(options), cancel_(cancel) {}
  Result<std::unique_ptr<GrowingFile>> fetch(const char* name, const std::vector<transfer::Range>& ranges);
  const transfer::TransferOptions& transfer() const {
    return source_.options ? *source_.options : options_.transfer;
  }

  transfer::Place source_;
  std::filesystem::path scratch_;
  const AcquireOptions& options_;
  std::optional<CancelToken> cancel_;
  std::string where_;
  std::uint64_t size_ = 0, received_ = 0;
  ZipDirectory directory_;
};

// Reads the archive's directory and the entries of the `wanted` files, and unpacks these below `into`.
// Returns the source and how many bytes came from it. Errors as PartialZip.
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
