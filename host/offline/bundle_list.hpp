// The list of a bundle: its first entry, bundle.json, against which all other entries are checked.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace enginehost::offline {

constexpr std::string_view list_entry = "bundle.json", spdx_entry = "spdx.json",
                           blob_folder = "blobs/sha256/";
constexpr std::string_view list_kind = "enginehost-bundle";
constexpr std::uint64_t largest_list = 64u << 20;        // bytes of the list and of any other document
constexpr std::uint64_t largest_documents = 256u << 20;  // of all documents together
constexpr std::size_t most_values = 4'000'000;           // of the list: a file takes three of them
// Each listed repository is read and verified, even one whose documents others have too. A bundle of every
// build that EngineHost's own repository has ever listed stays far below.
constexpr std::size_t most_builds = 10'000, most_licenses = 10'000, most_repositories = 100,
                      most_repository_documents = 2'000;

struct Blob {
  std::string sha256;
  std::uint64_t size = 0;
  bool operator==(const Blob&) const = default;
};

struct BundledBuild {
  std::string id, engine, version, flavor, os, arch;
  std::string manifest;                                    // digest of the document that describes it
  std::vector<std::pair<std::string, std::string>> trees;  // component id -> tree id
};

struct RepositoryDocument {
  std::string path;  // below the repository: "index.json"
  std::string sha256;
};

// A repository's documents and signatures, byte for byte as served, as far as the bundled builds need them.
struct BundledRepository {
  std::string name;  // its original location, for people
  std::vector<RepositoryDocument> documents;
};

struct BundledLicense {
  std::string id, url, sha256, redistribute;
  bool text = false;      // the bundle holds the text, as the document with that digest
  bool by_order = false;  // included because the exporter named the license
  std::vector<std::string> components;
};

// The bundle from which this one is the difference.
struct BundleBase {
  std::string name, list;           // file name; digest of its list
  std::vector<std::string> builds;  // ids in it
};

// Blobs are sorted by digest and listed once, documents before files. Every blob is referred to as a
// manifest, a tree's list, a repository's document or a license's text, or by a tree's list.
struct BundleList {
  std::vector<BundledBuild> builds;  // sorted by id
  std::vector<BundledRepository> repositories;
  std::vector<BundledLicense> licenses;
  std::optional<BundleBase> base;
  Blob spdx;
  std::vector<Blob> documents, files;
  std::vector<Blob>
      needs;  // files of the trees that the bundle leaves out because the base or the machine has them

  std::uint64_t size() const;  // bytes of everything except the list
};

// `name` is for messages. Errors: EH-F40 ("file", "problem", "entry", "member"): not such a list, or one that
// contradicts itself. EH-M04: a newer format. EH-M03: a critical member is unknown.
Result<BundleList> read_bundle_list(std::string_view text, std::string_view name);

// Returns true for a path that a repository's document may have: a view path of safe characters.
bool is_document_path(std::string_view path);

}  // namespace enginehost::offline
