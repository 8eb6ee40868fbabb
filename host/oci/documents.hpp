// The documents of a registry: image manifests and indexes, read as untrusted input.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace enginehost::oci {

inline constexpr std::string_view manifest_type = "application/vnd.oci.image.manifest.v1+json";
inline constexpr std::string_view index_type = "application/vnd.oci.image.index.v1+json";
// An Accept header with every document type that is read here. Docker's two types are the same documents
// under older names.
inline constexpr std::string_view accepted_types =
    "application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json, "
    "application/vnd.docker.distribution.manifest.v2+json, "
    "application/vnd.docker.distribution.manifest.list.v2+json";
inline constexpr std::uint64_t largest_document = 4u << 20;  // the limit of registries, too

// The name of a flavor, in the entry of an index (tools/oci/artifact.hpp has the other names of EngineHost).
inline constexpr std::string_view flavor_annotation = "org.enginehost.flavor";

struct Descriptor {
  std::string media_type, digest;  // digest: 64 hexadecimal digits
  std::uint64_t size = 0;
  std::string artifact_type;
  std::string os, architecture, variant;  // in an index's entry; empty: not stated
  std::vector<std::pair<std::string, std::string>> annotations;

  std::string annotation(std::string_view name) const;
};

// A manifest (config and layers) or an index (manifests).
struct Document {
  bool is_index = false;
  std::string media_type, artifact_type;
  Descriptor config;
  std::vector<Descriptor> layers;
  std::vector<Descriptor> manifests;
};

// Errors: EH-N32 with "reference" = name, "media_type" and "problem" for a document of another media type
// (Docker's schema 1), a digest that is not sha256, a negative size or more than 1000 entries. Unreadable
// JSON is EH-N32 too, with the parser's facts.
Result<Document> read_document(std::string_view text, std::string_view name);

// The names that registries use for os and arch: those of the Go language (GOOS, GOARCH).
struct PlatformName {
  std::string os, architecture, variant;
};

// Returns linux/amd64 for ("linux", "x86_64") and darwin/arm64 for ("macos", "arm64"). Names without another
// form stay unchanged.
PlatformName platform_name(std::string_view os, std::string_view arch);

}  // namespace enginehost::oci
