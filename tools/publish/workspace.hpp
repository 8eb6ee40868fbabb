// The folder in which a publisher keeps a repository: edited files, and files made from them.
//
//   repository.json      the name, and for how long an index is valid
//   engines/NAME.json    one manifest per engine, written by add; may be edited by hand
//   facts/SHA256.json    facts about the libraries of an archive, so that lint does not need it; if two
//   artifacts
//                        unpack one archive differently, the second file is named by archive_key
//   files/…              archives that the repository contains itself
//   chunks/SHA256.txt    lists of the pieces of large archives (transfer/chunk_list.hpp), by their own digest
//   .lock                held while something here is changed
// Made by sign and publish, together a repository that can be tried at once (--repository FOLDER):
//   root.json  roots/N.json  manifests/ENGINE-SHA256.json  index.json  and their .minisig files
//
// A manifest under manifests/ never changes, so that clients with an older index still find what it lists.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "cache/lock.hpp"
#include "host/manifest/repository.hpp"
#include "host/manifest/trust/root.hpp"
#include "tools/publish/artifact_facts.hpp"

namespace enginehost::publish {

// One thread at a time, any number of processes: lock() admits add, sign and publish one at a time.
// Concurrent edits by hand are not guarded against.
class Workspace {
 public:
  // Error: EH-M17 ("folder", "problem") when there is one already.
  static Result<Workspace> create(const std::filesystem::path& folder, const std::string& name);
  // Errors: EH-M17 when repository.json is missing, EH-M01 or EH-M02 when it is wrong.
  static Result<Workspace> open(const std::filesystem::path& folder);
  // Opens read-only. Also opens a repository without repository.json, written by hand or by publish; its
  // index.json then lists the manifests.
  static Result<Workspace> open_to_look(const std::filesystem::path& folder);

  const std::filesystem::path& folder() const { return folder_; }
  const std::string& name() const { return name_; }
  std::int64_t expires_days() const { return expires_days_; }
  // Warnings about repository.json.
  const std::vector<std::string>& warnings() const { return warnings_; }

  // Must be held from reading a document of the folder until what was derived from it is written. Errors:
  // EH-F18 when a live process holds it for more than two minutes without reporting progress; EH-F16 when
  // nothing can be written.
  Result<cache::FileLock> lock(std::string_view program) const;

  // Returns engines/*.json, sorted; without repository.json, the manifests that the index lists. EH-M17 as
  // children_of().
  Result<std::vector<std::filesystem::path>> engine_files() const;
  bool has_engines_folder() const { return !listed_; }
  std::filesystem::path engine_file(const std::string& engine) const;
  // Returns the path of a file source; nothing when it is outside the folder.
  std::optional<std::filesystem::path> file_of(const std::string& location) const;
  // Returns the path of a list of pieces, relative to the folder.
  std::string chunk_list_name(const std::string& text) const;
  Result<void> keep_chunk_list(const std::string& text) const;
  // Returns the text that write_json() writes.
  static std::string text_of(const Json& document);
  Result<void> write_json(const std::filesystem::path& file, const Json& document) const;

  // Returns the facts of the artifact's archive, unpacked as the artifact says; nothing when it was never
  // examined.
  std::optional<ArtifactFacts> facts_of(const manifest::Artifact& artifact) const;
  // Returns whether the archive was examined, unpacked in any way.
  bool was_looked_into(const std::string& sha256) const;
  // Stores facts beside those of the same archive unpacked in another way.
  Result<void> keep_facts(const manifest::Artifact& artifact, const ArtifactFacts& facts) const;

  // Returns the current index, or nothing.
  Result<std::optional<manifest::Index>> index() const;
  // Returns the current root.json, or nothing.
  Result<std::optional<manifest::Root>> root() const;

  // Makes manifests/ and index.json from engines/. Returns false and changes nothing when nothing changed and
  // the index is valid for more than half its time. Otherwise raises the serial and removes old signatures of
  // the index.
  Result<bool> prepare(std::int64_t now) const;

 private:
  std::filesystem::path folder_;
  std::string name_;
  std::vector<std::string> warnings_;
  std::int64_t expires_days_ = 365;
  Json blocked_;
  std::optional<std::vector<std::filesystem::path>> listed_;
};

// Facts of archives in a folder: one document for each way to unpack one. The first is named after the
// archive, the others after acquire::archive_key().

// Returns the facts of the artifact's archive, unpacked as the artifact says; nothing when it was never
// examined.
std::optional<ArtifactFacts> facts_in(const std::filesystem::path& folder,
                                      const manifest::Artifact& artifact);
// Stores facts beside those of the same archive unpacked in another way; the document appears whole. Errors
// as write_file().
Result<void> keep_facts_in(const std::filesystem::path& folder, const manifest::Artifact& artifact,
                           const ArtifactFacts& facts);

// Returns the lock file of a published folder. It lies beside the folder because publish replaces the folder
// as a whole. `folder`: an absolute path without links.
std::filesystem::path lock_of_published(const std::filesystem::path& folder);

// Returns the .minisig files of a document of the folder. EH-M17 as children_of().
Result<std::vector<std::filesystem::path>> signatures_of(const std::filesystem::path& document);

}  // namespace enginehost::publish
