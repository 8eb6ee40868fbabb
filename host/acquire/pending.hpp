// The parts of a build that would have to be fetched, as far as its manifest knows them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cache/store.hpp"
#include "host/manifest/catalog.hpp"

namespace enginehost::acquire {

struct Pending {
  std::uint64_t bytes = 0;            // of the missing parts whose size is known
  bool bytes_known = true;            // false: the size of a missing part is not in the manifest
  bool over_network = false;          // a missing part has no source in a local folder
  std::size_t parts = 0;              // number of missing parts
  std::uint64_t unpacked = 0;         // bytes of all files; 0 unless the build is installed
  std::vector<std::string> sources;   // "package index", "URL", "registry", "folder"; each once
  std::vector<std::string> licenses;  // ids of the licenses of all parts; each once
};

// Returns the missing parts of the build, by the first usable artifact of each component. Asks no server.
// `store`: its trees and builds are not missing; nullptr for another machine, where everything is. Any
// thread.
Pending pending_download(const manifest::Build& build, const cache::Store* store);

// The name that needed_servers() has for the indexes that pip is configured to use.
inline constexpr std::string_view package_indexes = "package index";

// Returns a URL of each missing part of the build that lies on one server only, and package_indexes for a
// part that only they have: without their answer the build cannot be fetched. Any thread.
std::vector<std::string> needed_servers(const manifest::Build& build, const cache::Store& store);

}  // namespace enginehost::acquire
