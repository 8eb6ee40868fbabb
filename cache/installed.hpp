// The record of an installed build.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace enginehost::cache {

// A library (or program) of a build as it lay in the view when it was installed.
struct LoadableFile {
  std::string path;  // in the view
  std::uint64_t size = 0, inode = 0;
  std::int64_t modified_ns = 0;
};

// What an open needs to know of an installed build, without reading a manifest or hashing anything.
struct Installed {
  std::string build, engine, version, flavor;
  std::string digest;              // of the sorted tree ids: cache::digest_of_trees
  std::string artifacts_digest;    // of the archives it was made from: manifest::Build::artifacts_digest
  std::vector<std::string> trees;  // plugin's first, then the components', in order
  std::int64_t installed_at = 0;   // seconds since 1970
  std::uint64_t size = 0;          // bytes of all files
  std::string plugin;              // view path of the plugin
  std::vector<std::string> search, lazy, optional;
  // Of a build whose runtime lies elsewhere on this machine: that installation, and the folder that the
  // plugin is told. Then `search` holds absolute paths of single libraries. Else empty.
  std::string in_place, root;
  std::vector<std::pair<std::string, std::string>> options;
  std::string
      manifest;  // a manifest document of this one build as one line of JSON, for use without its repository
  std::vector<LoadableFile> files;

  // Not recorded, but filled in by the store that found it:
  std::filesystem::path folder;    // the view, absolute
  std::filesystem::path layer;     // root of the layer that holds it
  bool read_only = false;          // that layer is one we do not write to
  bool unlike_its_record = false;  // the manifest says otherwise now, and the record could not be written
};

// The record as it lies in refs/: one `key value` a line, flat because it is read at every open and 100 of
// them are listed in a millisecond. Lines it does not know are skipped; a newer "format" is an error.
std::string write_record(const Installed& installed);

// The same without its first line, its manifest and its end, for who keeps what an open needs elsewhere; and
// one of those lines taken back. False when the value is not what the key needs.
std::string record_lines(const Installed& installed);
bool take_record_line(Installed& installed, std::string_view key, std::string_view value);

// `summary`: leaves `manifest` and `files` out. EH-F08 with "file" = name and "problem" when it is no record.
Result<Installed> read_record(std::string_view text, std::string_view name, bool summary = false);

}  // namespace enginehost::cache
