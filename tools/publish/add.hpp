// engine-manifest add: makes a build from files and derives its requirements from them.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tools/publish/workspace.hpp"

namespace enginehost::publish {

struct AddRequest {
  std::filesystem::path file;    // an archive, a wheel, a library, or a folder, which is packed
  std::filesystem::path plugin;  // the same; empty: `file` contains it
  std::string engine, version, flavor;
  std::string id;                         // the build's id; empty: engine-version-flavor-os-arch
  std::vector<std::string> urls;          // URLs of the same bytes as `file`; empty: a copy is published
  std::vector<std::string> select;        // view paths that are used; empty: everything
  std::vector<std::string> lazy;          // libraries opened at run time
  std::vector<std::string> capabilities;  // empty: those of the plugin's descriptor
  int strip = 0;
  int priority = 50;
  // Archives of at least this size get a list of their pieces. Smaller ones are never fetched in parallel,
  // because a download's parts have at least 16 MiB (transfer/download.cpp).
  std::uint64_t chunks_from = std::uint64_t{32} << 20;
  std::string license = "unknown";
  std::string license_id;  // empty: the manifest's, or LicenseRef-unknown in a new one
};

struct Added {
  std::string build;
  std::filesystem::path manifest;
  Json requirements;
  std::vector<Diagnosis> warnings;  // EH-M16: files that the manifest does not name one by one, and why
};

// Reads the files, stores what they say (facts/) and puts the build into its engine's manifest, in place of a
// build with the same id. The manifest names each file that the archives unpack to (files, tree, digest), so
// that they can be verified however they travel, and a list of the pieces of each large archive. Names of
// files are left out, with a warning, where clients would refuse the manifest for its size. A wheel without a
// URL is left to the package index; every other file is copied to files/. Errors: EH-M17 ("file", "problem",
// "remedy"): no library or not exactly one plugin, libraries of several systems, another build with other
// files for the component, a license with another id, or a manifest that is too large for clients. EH-F..: a
// file cannot be read or unpacked. Any number of processes: they read files in parallel and change the
// manifest one at a time (EH-F18). A killed process leaves the manifest unchanged; the next one removes its
// scratch folder.
Result<Added> add(const Workspace& workspace, const AddRequest& request);

// Returns "zip", "tar.gz", ... by the file's name, "none" for another name.
std::string archive_kind(const std::string& file_name);

}  // namespace enginehost::publish
