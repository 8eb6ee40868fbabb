// Pushes artifacts into a registry.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/oci/reference.hpp"
#include "host/transfer/options.hpp"
#include "host/transfer/progress.hpp"
#include "tools/oci/artifact.hpp"

namespace enginehost::oci {

struct Pushed {
  std::uint64_t sent = 0;                 // bytes of blobs that went over the wire
  int blobs_sent = 0, blobs_present = 0;  // present: the registry had them already
  std::vector<std::string> references;    // HOST/NAME@sha256:… of each artifact's manifest, in order
  std::string reference;                  // with the tag, and the digest of what the tag now names
};

struct PushOptions {
  transfer::TransferOptions transfer;
  std::uint64_t piece = 64u << 20;  // longer blobs are sent in pieces of this size
  transfer::ProgressCallback progress;
  std::optional<CancelToken> cancel;
};

// Sends what the registry lacks: blobs first, then the manifests that name them, and the tag last, so that an
// interrupted push leaves no incomplete artifact under a name. One artifact gets the target's tag, or without
// one that of its build. Several get an image index under the target's tag, or "latest". Errors: EH-N35: the
// target has a digest, which a push determines itself. EH-N36 ("registry", "status", "registry_said",
// "step"): the registry refused the push. EH-F01: a file cannot be read. Those of Registry::ask(). Blocks;
// any thread.
Result<Pushed> push(const Reference& target, const std::vector<Artifact>& artifacts,
                    const PushOptions& options);

}  // namespace enginehost::oci
