// The contents of an archive, and what its libraries declare about themselves.
#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "cache/tree_list.hpp"
#include "host/binary/binary.hpp"
#include "host/manifest/catalog.hpp"

namespace enginehost::publish {

struct LibraryFacts {
  std::string path;  // in the view
  std::string kind;  // "elf", "pe", "macho"
  std::string machine, soname, minimum_os;
  std::vector<std::string> needed;
  std::optional<std::vector<std::string>> rpath, runpath;  // as written; nothing: it has none
  std::int64_t dependent_load_flags = 0;  // of a DLL: the flags with which its dependencies are searched
  std::string glibc, glibcxx, cxxabi;     // the newest version of each that it requires, or empty
  std::int64_t isa = 0;                   // the x86 level that its note requires: 2, 3, 4; 0: none
  std::vector<std::string> sass, ptx;     // of its GPU code
  bool gpu_code_incomplete = false;       // it has more GPU code than the two lists, of other kinds
  bool plugin = false;                    // exports engine_plugin_v1
  std::optional<binary::PluginTexts> plugin_texts;  // what it says of its engine, if the file shows it
  bool stand_in = false;                            // has EngineHost's note (binary::BinaryInfo)
  // For a plugin that uses libtorch's symbols: "1" when they have the newer std::string, else "0".
  std::string cxx11_abi;
  // For an ELF library: the libraries that its own RUNPATH or RPATH finds outside the archive, on the machine
  // where it was examined: name and folder.
  std::vector<std::pair<std::string, std::string>> found_by_own_path;
};

struct ArtifactFacts {
  std::string tree;                // the id of the tree that an installation makes of it
  std::string unpacked_as;         // acquire::archive_key of the request; another select gives another tree
  std::vector<std::string> files;  // all view paths
  std::map<std::string, std::string> links;  // those of `files` that are links, with their targets
  // False: the facts were stored by an earlier version, without links and the libraries' own search paths.
  bool reports_paths = false;
  // Name of the archive in the package index, and its digest; empty in facts of earlier versions, and of
  // other archives.
  std::string file, sha256;
  // Only the parts with the selected files were read: the archive's digest is what the index states.
  bool by_ranges = false;
  std::vector<LibraryFacts> libraries;
  std::vector<cache::TreeEntry>
      entries;  // that tree; only from look_into(), because facts/ does not store it
  bool has_file(std::string_view view_path) const;
};

// Unpacks the archive as an installation would (select, strip, modes, and the same refusals) below `scratch`,
// which is emptied, and reads every library. Errors: those of acquire::unpack_into() and check_unpacked();
// EH-F16 and the like for the disk.
Result<ArtifactFacts> look_into(const manifest::Artifact& artifact, const std::filesystem::path& archive,
                                const std::filesystem::path& scratch);

// Reads every library of an unpacked tree below `root`; `unpacked_as`: see ArtifactFacts. Errors: EH-F23 and
// the like.
Result<ArtifactFacts> facts_of_tree(cache::TreeList list, const std::filesystem::path& root,
                                    std::string unpacked_as);

Json to_json(const ArtifactFacts& facts);
ArtifactFacts facts_from_json(const Json& document);

}  // namespace enginehost::publish
