// The files of an SDK: where each comes from and what its digest is.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cache/store.hpp"
#include "host/engine_sdk/cmake_package.hpp"
#include "host/manifest/catalog.hpp"

namespace enginehost::engine_sdk {

struct CopiedFile {
  std::filesystem::path from;
  std::string path;  // in the folder
  cache::TreeEntry entry;
};
struct NamedLink {
  std::string path, target;
};

struct Contents {
  std::vector<CopiedFile> copied;
  std::vector<GeneratedFile> generated;
  std::vector<NamedLink> links;
};

// Returns what the folder gets of these trees of the parts (parts_of_sdk()): libraries in lib/, headers in
// include/, everything else, which is licenses and notices, below licenses/COMPONENT/. Errors: EH-F01, EH-F08
// of the trees' lists; EH-F20 ("path", "first", "second") if two files would have one name.
Result<Contents> contents_of(const manifest::Build& parts, const std::vector<std::string>& trees,
                             const cache::Store& store, const Package& package, const std::string& cxx11_abi);

}  // namespace enginehost::engine_sdk
