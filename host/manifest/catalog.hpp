// Manifests as values: the builds that repositories offer, merged into one catalog.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnosis.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "cache/tree_list.hpp"
#include "host/transfer/download.hpp"

namespace enginehost::manifest {

// A place to get the bytes of an artifact.
struct Source {
  enum class Kind { url, file, package_index, oci };
  Kind kind = Kind::url;
  std::string location;  // the URL, or the path as written (relative to the repository), or the OCI reference
  std::string project, file;  // package_index: project and file name
  std::string text() const;   // for messages: the URL, the path, "package index: torch, torch-2.0.1-….whl"
};

// One archive. The artifacts of a component are alternatives that give the same files.
struct Artifact {
  std::string sha256;                   // empty: the build is listed and ranked but never installed
  std::optional<std::uint64_t> size;    // bytes
  std::string archive;                  // "zip", "tar", "tar.gz", "tar.xz", "tar.zst", "none"
  std::string path;                     // for "none": the file's path in the view
  int strip = 0;                        // number of leading path elements dropped from archive names
  std::vector<std::string> select;      // patterns, applied after strip; empty: everything
  std::string tree;                     // pinned tree id, or empty
  std::vector<cache::TreeEntry> files;  // the files of that tree; empty: not named one by one
  std::vector<transfer::Range> ranges;  // of a zip: the parts of its bytes that hold them; empty: all
  std::uint64_t unpacked = 0;           // bytes of the tree's files, where they are not named one by one
  // The same archive with other files selected: the engine's headers, which no open needs; or nullptr.
  std::shared_ptr<const Artifact> headers;
  std::vector<Source> sources;
  std::string chunks_sha256;  // digest of the list of its pieces' digests (transfer/chunk_list.hpp), or empty
  std::vector<Source> chunks_sources;  // where that list is: url or file
};

struct License {
  std::string id, url, sha256;
  bool explicit_consent = false;          // "accept": "explicit"
  std::string redistribute;               // "yes", "no", "ask"
  std::string text_component, text_path;  // the file of an archive that holds the text, or empty
};

struct Component {
  std::string id, version, license;   // license: a key of Manifest::licenses, or empty
  std::vector<std::string> optional;  // view paths (patterns) that a build can do without
  std::vector<Artifact> artifacts;
  // For a plugin that was compiled against its runtime's headers: the runtime libraries that it names itself,
  // and the C++ ABI that it shares with them ("0", "1"; empty: none).
  std::vector<std::string> needs;
  std::string cxx11_abi;
  // Names of its libraries that are stand-ins: they offer the functions of a library that this build cannot
  // use, and do nothing.
  std::vector<std::string> stands_in_for;
};

// One thing by which an installation was recognized: {"CUDA", "12.4", the file that says so}.
struct InstallationSign {
  std::string what, value, source;
};

// A runtime that is already on this machine and is loaded from where it lies (host/installations).
struct InPlace {
  std::string path;                            // the installation's path, for people
  std::string root;                            // passed to the plugin as its folder; empty: the view
  std::string identity;                        // identity of its files now; changes after an upgrade
  std::vector<std::string> dependency_stamps;  // the files that show whether it is still the same
  std::vector<InstallationSign> found;         // how it was recognized, for people
  std::optional<Diagnosis> problem;            // why it cannot be opened
};

struct CudaRequirement {
  std::string toolkit;                 // "11.8"
  std::vector<std::string> sass, ptx;  // "8.6"; a suffix "a" or "f" stays
  // The NVIDIA toolkit for arm64 Linux that it was built with, as its folder is named: "sbsa-linux" (servers)
  // or "aarch64-linux" (Jetson). Empty: not stated, and on other systems.
  std::string target;
};
struct RocmRequirement {
  std::string version;
  std::vector<std::string> gfx;
};

// Empty members require nothing. Versions are requirements for base/version.hpp's satisfies().
struct Requirements {
  std::string libc;  // "glibc" or "musl"
  std::string glibc, glibcxx, cxxabi, os_version, vcruntime, driver;
  std::vector<std::string> cpu;  // features, or a level "x86-64-v3"
  std::optional<CudaRequirement> cuda;
  std::optional<RocmRequirement> rocm;
  bool metal = false;
  std::uint64_t memory = 0, device_memory = 0;               // bytes
  std::vector<std::string> libraries;                        // file names the system must have
  std::vector<std::pair<std::string, std::string>> unknown;  // name, JSON text: their check gives "unknown"
};

struct Manifest;

struct Build {
  // The name of the build on this machine: the id of its manifest, or ENGINE+ID where another engine's build
  // has that id (cache/record_names.hpp). `published_id` is the manifest's id then, else empty.
  std::string id, published_id;
  std::string engine, version, flavor, os, arch;
  Requirements requires_;
  std::string plugin_component, plugin_path;  // plugin_path: in the view
  std::vector<std::string> components;        // ids, without the plugin's
  std::vector<std::string> search;  // view folders of libraries; in place: absolute paths of libraries
  std::vector<std::pair<std::string, std::string>> options;
  std::vector<std::string> lazy;          // file names opened at run time, looked up in `search`
  std::vector<std::string> capabilities;  // sorted
  int priority = 0;
  int probe_seconds = 0;  // how long the first start may take, when longer than usual; 0: no hint
  std::string yanked;     // reason, or empty
  std::string not_built;  // why there is no plugin, when it is not compiled; else empty
  std::string digest;     // of the sorted tree ids, when the manifest states it
  std::string blocked;    // why it must not be used, even if installed (Catalog::blocked); or empty
  std::string expired;  // when its signed repository expired, after which it must not be installed; or empty
  std::shared_ptr<const InPlace>
      in_place;                            // of an existing installation, which has no manifest; else nullptr
  std::weak_ptr<const Manifest> manifest;  // the owner; alive as long as a pointer from a catalog is

  // Returns the sha256 over the sorted artifact digests of plugin and components. It is known before
  // installation and changes with any byte of them. Empty when a digest is missing.
  std::string artifacts_digest() const;
  // Returns the sha256 over how the files are loaded rather than which they are: the plugin's path, `search`,
  // `lazy`, `options`, the components' optional files, and the probe's time limit. Publishing a correction to
  // one of them keeps the files unchanged.
  std::string loading_digest() const;
  // Returns the plugin's component first, then `components` in order.
  std::vector<const Component*> all_components() const;
  // Returns the names of its stand-ins, in the order of the components.
  std::vector<std::string> stand_ins() const;
};

struct Manifest {
  std::string engine, created, expires;
  std::int64_t serial = 0;
  std::map<std::string, License> licenses;
  std::map<std::string, Component> components;
  std::vector<std::shared_ptr<const Build>> builds;
  std::string repository;  // the folder or URL it came from, where relative file sources start
  std::vector<std::string>
      signed_by;     // ids of the trusted keys that signed the repository's index; empty: none
  std::string name;  // path or URL of the document, for messages
  std::vector<std::string> warnings;  // unknown fields and the like
};

struct Shadowed {
  std::string build, repository, by;
};

// A digest that must no longer be used: of an artifact, a tree or an installed build.
struct Blocked {
  std::string sha256, reason;
  std::string by;  // the repository that blocks it, or the policy's file
  // False: the repository is not one of this request. It then blocks only builds that came from it or that
  // its keys signed, so that a repository that was tried once cannot block those of others.
  bool everywhere = true;
  std::vector<std::string> keys = {};     // the ids of its keys, if not everywhere
  std::vector<std::string> engines = {};  // whose builds it may block; empty: all
  bool operator==(const Blocked&) const = default;
};

// All repositories merged; for the same engine and build id the earlier repository wins. A plain value that
// shares manifests.
struct Catalog {
  std::vector<std::shared_ptr<const Manifest>> manifests;
  std::vector<std::shared_ptr<const Build>> builds;  // in order of repositories, then of the document
  std::vector<Shadowed> shadowed;
  std::vector<Blocked> blocked;                // by any repository or the policy; overrides everything
  std::map<std::string, std::string> expired;  // repository -> date: nothing new is installed from it
  std::string created;  // of the newest index, "2026-08-01T09:00:00Z"; empty: none has a date
  std::vector<std::string> warnings;
  std::vector<Diagnosis>
      failures;  // repositories and manifests that could not be read; the others are still used
  std::set<std::string> unread_engines;      // whose manifests were not needed (load_repository's `engines`)
  std::vector<std::string> engines() const;  // of builds and unread ones; sorted, unique
};

// Reads one manifest document. `repository`, `name` and `signed_by` as in Manifest. Errors: EH-M02: a field
// is missing or has the wrong type ("document", "member", "problem"). EH-M03: a critical field is unknown to
// this reader. EH-M04: the format is too new.
Result<std::shared_ptr<const Manifest>> read_manifest(const Json& document, std::string repository,
                                                      std::string name,
                                                      std::vector<std::string> signed_by = {});

// Adds a manifest's builds to the catalog and records those that an earlier one shadows. The catalog's build
// pointers share ownership of the manifest, so a build that is kept (a candidate) keeps its components too.
void merge(Catalog& catalog, std::shared_ptr<const Manifest> manifest);

// Returns the same build under another name on this machine.
std::shared_ptr<const Build> called(std::shared_ptr<const Build> build, std::string name);

// The record of an installed build, as far as blocks depend on it.
struct InstalledAs {
  std::vector<std::string> digests;  // its own and its trees', whatever its manifest says now
  std::string origin;                // the repository that it came from; empty: unknown, or not installed
  std::vector<std::string> signers;  // ids of the keys that signed there
};

// Marks blocked or expired builds, once everything is merged.
void mark(Catalog& catalog, const std::function<InstalledAs(const std::string& build)>& installed);

}  // namespace enginehost::manifest
