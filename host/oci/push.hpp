// Artifacts into a registry.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/oci/artifact.hpp"
#include "host/oci/reference.hpp"
#include "host/transfer/options.hpp"
#include "host/transfer/progress.hpp"

namespace enginehost::oci {

struct Pushed {
  std::uint64_t sent = 0;                 // bytes of blobs that went over the wire
  int blobs_sent = 0, blobs_present = 0;  // present: the registry had them already
  std::vector<std::string> references;    // HOST/NAME@sha256:… of each artifact's manifest, in order
  std::string reference;                  // with the tag, and the digest of what the tag now names
};

struct PushOptions {
  transfer::TransferOptions transfer;
  std::uint64_t piece = 64u << 20;  // blobs that are longer go in pieces of this size
  transfer::ProgressCallback progress;
  std::optional<CancelToken> cancel;
};

// Sends what the registry has not, blobs before the manifests that name them; the tag comes last: a push that
// was cut off leaves nothing half under a name. One artifact gets the target's tag (without one, that of its
// build); several get an image index under it ("latest" without one). A target with a digest is EH-N35: what
// is pushed has its own. Errors: EH-N36 ("registry", "status", "registry_said", "step"): the registry refused
// it; those of Registry::ask; EH-F01 when a file cannot be read. Blocks; any thread.
Result<Pushed> push(const Reference& target, const std::vector<Artifact>& artifacts,
                    const PushOptions& options);

}  // namespace enginehost::oci
