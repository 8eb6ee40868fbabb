// An artifact's bytes out of a registry.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.hpp"
#include "base/result.hpp"
#include "host/transfer/transfer.hpp"

namespace enginehost::oci {

// What is looked for. Its digest decides; os, arch and flavor tell which entry of an index is asked first.
struct Wanted {
  std::string sha256;  // 64 hexadecimal digits
  std::optional<std::uint64_t> size;
  std::uint64_t limit = std::uint64_t{16} << 30;
  std::string os, arch, flavor;
};

// Where a blob lies and who may ask for it there.
struct Located {
  std::string url;
  transfer::Authorization authorization;  // good for minutes
  std::optional<std::uint64_t> size;      // as the registry tells it
};

// Finds the blob that fetch() would fetch, without fetching it. Errors as fetch().
Result<Located> locate(std::string_view reference, const Wanted& wanted,
                       const transfer::TransferOptions& options,
                       const std::optional<CancelToken>& cancel = {});

// Fetches the blob `wanted.sha256`. The reference may name it itself (HOST/NAME@sha256:<that digest>, or
// HOST/NAME alone), or a manifest or an index, by digest or tag, that lists it. A document fetched by digest
// is held against it (EH-N33); the blob's own digest is the caller's to check, as with fetch_url, whose rules
// for resuming, progress and cancelling are the same. Redirects of blobs go without credentials. Errors:
// EH-N31 not there, N32 no manifest, N34 no such blob in what the reference names, N35 no reference; those of
// Registry::ask and of fetch_url.
Result<transfer::TransferReport> fetch(std::string_view reference, const Wanted& wanted, transfer::Sink& sink,
                                       const transfer::TransferOptions& options,
                                       const transfer::ProgressCallback& progress = {},
                                       const std::optional<CancelToken>& cancel = {});

// The same thing in the mirrors that the options name for its registry, in their order, and last the
// reference itself. What is no reference is returned as it is.
std::vector<std::string> with_mirrors(std::string_view reference, const transfer::TransferOptions& options);

}  // namespace enginehost::oci
