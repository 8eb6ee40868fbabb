// An installed build in the form of a registry: a manifest, a config and one layer per component.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "cache/installed.hpp"
#include "cache/tree_list.hpp"
#include "host/oci/documents.hpp"

namespace enginehost::oci {

// EngineHost's names. An artifact is one build: its config is the EngineHost manifest of that build, its
// layers are the components' archives.
inline constexpr std::string_view artifact_type = "application/vnd.enginehost.build.v1";
inline constexpr std::string_view config_type = "application/vnd.enginehost.manifest.v1+json";
inline constexpr std::string_view build_annotation = "org.enginehost.build";
inline constexpr std::string_view component_annotation = "org.enginehost.component";
inline constexpr std::string_view tree_annotation = "org.enginehost.tree";

// Bytes with a digest, held in `bytes` or in `file`. A file that two builds share as a component is
// transferred once.
struct Blob {
  Descriptor descriptor;
  std::filesystem::path file;
  std::string bytes;
};

struct Artifact {
  std::string build, engine, version, flavor;
  Blob manifest, config;
  std::vector<Blob> layers;             // the plugin's first, then the components', in the order of the build
  std::vector<std::string> components;  // the components of the layers
  Json
      description;  // the EngineHost manifest in the config; its artifacts of these layers have no source yet

  // Returns the descriptor for an index, with platform and annotations.
  Descriptor entry() const { return manifest.descriptor; }
  // Returns the description with {"oci": reference} as the first source of these layers, as a repository
  // publishes it.
  Json description_with(const std::string& reference) const;
};

struct ArtifactRequest {
  std::filesystem::path folder;  // an empty folder for the archives that have to be made
  std::set<std::string>
      redistribute;  // licenses whose redistribution was ordered, by id or by name in the manifest
};

// Makes the artifact of an installed build. If a component's published archive still lies in a file source
// with the right digest, that archive is used unchanged. Otherwise the component's tree is packed
// (pack_tree()) and the config pins its id. The result holds no time and no path of this machine: the same
// build gives the same bytes. Errors: EH-P60 ("license", "component", "build"): a license forbids
// redistribution and is not in `redistribute`. EH-F08, EH-F01: the cache is damaged. EH-M01, EH-M02: its
// record is. Disk failures as pack_tree().
Result<Artifact> make_artifact(const cache::Installed& installed, const ArtifactRequest& request,
                               const std::optional<CancelToken>& cancel = {});

// Returns an image index of several artifacts.
Blob make_index(const std::vector<Artifact>& artifacts);

// Returns a build's id as a tag. Characters that a tag cannot have become '_'.
std::string tag_of(std::string_view build);

// Returns a descriptor's set members as JSON.
Json to_json(const Descriptor& descriptor);

// Makes `folder` a layout, unless it is one, and returns an empty folder in it for packing, so that packed
// archives need not be copied. Errors: EH-P47 ("file", "problem") when the folder holds something else;
// EH-F15, EH-F16. Only one process at a time may write a layout.
Result<std::filesystem::path> begin_layout(const std::filesystem::path& folder);

// Adds the artifacts to a layout that was begun, and removes the packing folder. Keeps existing blobs of the
// right size and the entries of index.json under other names. Each artifact gets its tag (tag_of() its build)
// as org.opencontainers.image.ref.name; several at once also get an image index under `index_name`. The same
// artifacts in an empty folder give the same bytes. index.json is written last and by rename, so an
// interrupted write leaves the layout's earlier content valid. Errors: EH-F15, EH-F16.
Result<void> write_layout(const std::filesystem::path& folder, const std::vector<Artifact>& artifacts,
                          const std::string& index_name);

struct Packed {
  std::string sha256;  // of the archive
  std::uint64_t size = 0;
};

inline constexpr int packing_level = 3;  // zstd level

// Writes the tree's files, in the order of its list, as a pax tar under zstd into the new file `archive`. The
// same tree gives the same bytes with the same libzstd (times 0, owner 0, modes 0644 and 0755, one thread, a
// fixed level); with any libzstd, it unpacks to the same tree id. The files are hashed and compared with the
// list as they are read. Errors: EH-F08 ("file"): the cache is damaged. EH-F01: a file cannot be read.
// EH-F15, EH-F16: writing. EH-P10: canceled.
Result<Packed> pack_tree(const cache::TreeList& list, const std::filesystem::path& folder,
                         const std::filesystem::path& archive, const std::optional<CancelToken>& cancel = {});

}  // namespace enginehost::oci
