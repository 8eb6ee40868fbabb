// An installed build as a registry keeps it: a manifest, a config and one layer a component.
#pragma once
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "cache/installed.hpp"
#include "host/oci/documents.hpp"

namespace enginehost::oci {

// Bytes with a digest: in `bytes`, or in `file`. Two builds may share a component: its file is then moved
// once.
struct Blob {
  Descriptor descriptor;
  std::filesystem::path file;
  std::string bytes;
};

struct Artifact {
  std::string build, engine, version, flavor;
  Blob manifest, config;
  std::vector<Blob> layers;             // plugin's first, then the components', as the build names them
  std::vector<std::string> components;  // of the layers
  Json description;  // the EngineHost manifest in the config, whose artifacts of these layers have no source
                     // yet

  // As it stands in an index: with platform and annotations.
  Descriptor entry() const { return manifest.descriptor; }
  // The description with these layers' source: {"oci": reference}, before all others. What a repository
  // publishes.
  Json description_with(const std::string& reference) const;
};

struct ArtifactRequest {
  std::filesystem::path folder;  // an empty one for the archives that have to be made
  std::set<std::string>
      redistribute;  // licenses that may be passed on by order, by id or by name in the manifest
};

// Makes the artifact of an installed build. A component whose archive as published still lies in a file
// source with the right digest is passed on as it is; of the others the tree is packed (pack_tree), and the
// config pins its id. No time and no path of this machine is in it: the same build gives the same bytes.
// EH-P60 ("license", "component", "build"): a license forbids passing it on and is not named; EH-F08, EH-F01:
// the cache is damaged; EH-M01/M02: its record is; disk failures as pack_tree.
Result<Artifact> make_artifact(const cache::Installed& installed, const ArtifactRequest& request,
                               const std::optional<CancelToken>& cancel = {});

// An image index of several artifacts.
Blob make_index(const std::vector<Artifact>& artifacts);

// A build's id as a tag: other characters than a tag may have become '_'.
std::string tag_of(std::string_view build);

// A descriptor as JSON, with what is set of it.
Json to_json(const Descriptor& descriptor);

}  // namespace enginehost::oci
