// engine-manifest add: a build from files, with what they require filled in from the files themselves.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "host/publish/workspace.hpp"

namespace enginehost::publish {

struct AddRequest {
  std::filesystem::path file;    // an archive, a wheel, a library, or a folder that is packed
  std::filesystem::path plugin;  // the same; empty: it lies in `file`
  std::string engine, version, flavor;
  std::string id;                   // of the build; empty: engine-version-flavor-os-arch
  std::vector<std::string> urls;    // where the same bytes of `file` can be had; empty: a copy is published
  std::vector<std::string> select;  // view paths that are used; empty: everything
  std::vector<std::string> lazy;    // libraries opened at run time
  std::vector<std::string> capabilities;
  int strip = 0;
  int priority = 50;
  // Archives from this size on get a list of their pieces. Below it nobody asks for two at once: no part that
  // a download asks for is smaller than 16 MiB (transfer/download.cpp).
  std::uint64_t chunks_from = std::uint64_t{32} << 20;
  std::string license = "unknown";
  std::string license_id;  // empty: as the manifest has it, LicenseRef-unknown in a new one
};

struct Added {
  std::string build;
  std::filesystem::path manifest;
  Json requirements;
};

// Looks into the files, keeps what they say (facts/) and puts the build into its engine's manifest, in place
// of one with the same id. The manifest names the files that the archives unpack to (tree, digest), so that
// they can be told from others however they travel, and a list of the pieces of each large archive. A wheel
// without a URL is left to the package index; every other file is copied to files/. EH-M17 ("file",
// "problem", "remedy") when there is no library or not one plugin, when the libraries are of several systems,
// when another build has the component with other files, or when the license has another id; EH-F.. when a
// file cannot be read or unpacked. Any number of processes: each reads its files by itself, and they take
// turns at the manifest (EH-F18). One that is killed leaves the manifest as it was; the next one removes its
// scratch folder.
Result<Added> add(const Workspace& workspace, const AddRequest& request);

// "zip", "tar.gz", ... by the file's name, "none" for another name.
std::string archive_kind(const std::string& file_name);

}  // namespace enginehost::publish
