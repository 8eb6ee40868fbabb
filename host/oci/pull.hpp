// Finds an artifact's bytes in a registry.
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

// The blob to find. Its digest identifies it; os, arch and flavor choose which entry of an index is tried
// first.
struct Wanted {
  std::string sha256;  // 64 hexadecimal digits
  std::string os, arch, flavor;
};

// Finds the blob `wanted.sha256`, signs in, and returns its place with the authorization for reading it
// there, which is good for minutes, and the length that the registry reports. The reference may name the blob
// itself (HOST/NAME@sha256:<that digest>, or HOST/NAME alone), or a manifest or index that lists it, by
// digest or tag. A document fetched by digest is checked against it (EH-N33). The blob's digest is for the
// caller to check. Redirects of blobs carry no credentials. Errors: EH-N31 not there, EH-N32 not a manifest,
// EH-N34 the reference lists no such blob, EH-N35 not a reference; those of Registry::ask().
Result<transfer::Place> locate(std::string_view reference, const Wanted& wanted,
                               const transfer::TransferOptions& options,
                               const std::optional<CancelToken>& cancel = {});

// Returns the same reference in the mirrors that the options name for its registry, in their order, then the
// reference itself. A text that is no reference is returned unchanged.
std::vector<std::string> with_mirrors(std::string_view reference, const transfer::TransferOptions& options);

}  // namespace enginehost::oci
