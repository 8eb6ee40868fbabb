// What lies in an archive, and what its libraries say of themselves.
#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "host/manifest/catalog.hpp"

namespace enginehost::publish {

struct LibraryFacts {
  std::string path;  // in the view
  std::string kind;  // "elf", "pe", "macho"
  std::string machine, soname, minimum_os;
  std::vector<std::string> needed;
  std::optional<std::vector<std::string>> rpath, runpath;  // as written; nothing: it has none
  std::int64_t dependent_load_flags = 0;  // of a DLL: with which flags its needs are searched
  std::string glibc, glibcxx, cxxabi;     // the newest version of each that it wants, or empty
  std::int64_t isa = 0;                   // the x86 level that its note demands: 2, 3, 4; 0: none
  std::vector<std::string> sass, ptx;     // of the GPU code in it
  bool plugin = false;                    // exports engine_plugin_v1
  // Of a plugin that asks names of libtorch: "1" when std::string is the newer one in them, else "0".
  std::string cxx11_abi;
  // Of an ELF library: what it needs and its own RUNPATH or RPATH leads to, outside the archive, where it was
  // looked into: the name, and that folder.
  std::vector<std::pair<std::string, std::string>> found_by_own_path;
};

struct ArtifactFacts {
  std::string tree;         // the id of the tree that an installation makes of it
  std::string unpacked_as;  // acquire::archive_key of what was asked for: with another select, another tree
  std::vector<std::string> files;            // all view paths
  std::map<std::string, std::string> links;  // of `files`, those that are links, with their targets
  // Facts that were kept by an earlier version tell neither links nor the libraries' own search paths.
  bool reports_paths = false;
  std::vector<LibraryFacts> libraries;
  bool has_file(std::string_view view_path) const;
};

// Unpacks the archive as an installation would (select, strip, modes; what is refused there is refused here)
// below `scratch`, which is emptied, and reads every library. Errors as acquire::unpack_into and
// check_unpacked; EH-F16 and the like for the disk.
Result<ArtifactFacts> look_into(const manifest::Artifact& artifact, const std::filesystem::path& archive,
                                const std::filesystem::path& scratch);

Json to_json(const ArtifactFacts& facts);
ArtifactFacts facts_from_json(const Json& document);

}  // namespace enginehost::publish
