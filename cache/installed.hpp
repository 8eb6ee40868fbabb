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

// A library (or program) of a build, as it was in the view at installation.
struct LoadableFile {
  std::string path;  // in the view
  std::uint64_t size = 0, inode = 0;
  std::int64_t modified_ns = 0;
};

// The facts of an installed build that an open needs, without reading a manifest or hashing anything.
struct Installed {
  std::string build;  // its name on this machine: cache/record_names.hpp
  std::string id;     // the id that its publisher gave it; empty: the same
  std::string engine, version, flavor;
  std::string digest;              // of the sorted tree ids: cache::digest_of_trees
  std::string artifacts_digest;    // of the source archives: manifest::Build::artifacts_digest
  std::vector<std::string> trees;  // the plugin's first, then the components', in order
  std::int64_t installed_at = 0;   // seconds since 1970
  std::uint64_t size = 0;          // bytes of all files
  std::string plugin;              // view path of the plugin
  std::vector<std::string> search, lazy, optional;
  std::vector<std::string> stand_ins;  // names of libraries that are stand-ins (manifest::Component)
  // For a build whose runtime is elsewhere on this machine: that installation, and the folder that is passed
  // to the plugin. `search` then holds absolute paths of single libraries. Empty for other builds.
  std::string in_place, root;
  std::vector<std::pair<std::string, std::string>> options;
  // Origin and proof. `origin`: the repository that its manifest came from, without passwords. `signers`:
  // the ids of the trusted keys that signed that repository's index; empty: none. `files_by`: the proof that
  // these are its files: "archive" (all were unpacked here from archives that were hashed whole and have the
  // manifest's digests), "manifest" (it names them where that is not so), "bundle" (only the bundle that
  // brought them). All empty: unknown, because an older EngineHost wrote the record.
  std::string origin, files_by;
  std::vector<std::string> signers;
  // Not empty: the build serves only requests that name this repository, which nobody signed and which one
  // request named (a trial must not change what other programs open).
  std::string only_for;
  std::string manifest;  // the manifest of this one build as one line of JSON, for use without its repository
  std::vector<LoadableFile> files;

  const std::string& published_id() const { return id.empty() ? build : id; }

  // Not recorded; filled in by the store that found it:
  std::string record;              // the name of the record in its layer, if it is not `build`
  std::filesystem::path folder;    // the view, absolute
  std::filesystem::path layer;     // root of the layer that has it
  bool read_only = false;          // EngineHost does not write to that layer
  bool unlike_its_record = false;  // the manifest has changed since, and the record could not be updated
};

// How good the proof is that the files are the publisher's: 3 a trusted key signed the manifest, and the
// files are the manifest's; 2 nobody signed the manifest, or it is unknown; 1 only a bundle says which files
// the build has.
int strength_of_proof(const Installed& installed);

// Returns the record as stored in refs/: one `key value` per line. It is flat because every open reads it,
// and 100 of them are listed in a millisecond. Readers skip unknown lines; a newer "format" is an error.
std::string write_record(const Installed& installed);

// Returns the record without first line, manifest and end, for callers that store it elsewhere. The function
// below reads one of its lines. It returns false if the value does not fit the key.
std::string record_lines(const Installed& installed);
bool take_record_line(Installed& installed, std::string_view key, std::string_view value);

// Reads a record; `summary` omits `manifest` and `files`. Errors: EH-F08 with "file" = name and "problem" if
// it is no record.
Result<Installed> read_record(std::string_view text, std::string_view name, bool summary = false);

// Returns a recorded absolute path in the build's current view, if it was in the build's view: a cache may be
// moved or copied. Returns other paths unchanged.
std::string rebase_into_view(const std::string& recorded, const Installed& installed);

}  // namespace enginehost::cache
