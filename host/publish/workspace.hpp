// The folder in which a publisher keeps a repository: what is edited, and what is made from it.
//
//   repository.json      the name, and for how long an index holds
//   engines/NAME.json    one manifest an engine, as add writes it and a person may edit it
//   facts/SHA256.json    what the libraries of an archive say, so that lint needs no archive; where two
//                        artifacts unpack one archive in two ways, the second's is named by archive_key
//   files/…              archives that the repository brings itself
//   chunks/SHA256.txt    lists of the pieces of large archives (transfer/chunk_list.hpp), by their own digest
//   .lock                held by whoever changes something here
// made by sign and publish, together a repository that can be tried at once (--repository FOLDER):
//   root.json  roots/N.json  manifests/NAME-DIGEST.json  index.json  and their .minisig files
//
// A manifest under manifests/ never changes: those who read an older index still find what it lists.
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
#include "host/publish/artifact_facts.hpp"

namespace enginehost::publish {

// One thread at a time, any number of processes: add, sign and publish take turns by lock(). What a person
// edits by hand meanwhile is not guarded.
class Workspace {
 public:
  // EH-M17 ("folder", "problem") when there is one already.
  static Result<Workspace> create(const std::filesystem::path& folder, const std::string& name);
  // EH-M17 when repository.json is not there, EH-M01 or EH-M02 when it is wrong.
  static Result<Workspace> open(const std::filesystem::path& folder);
  // The same to look at; also a repository without repository.json: one that was written by hand, or that
  // publish wrote. Its index.json says then which manifests it has.
  static Result<Workspace> open_to_look(const std::filesystem::path& folder);

  const std::filesystem::path& folder() const { return folder_; }
  const std::string& name() const { return name_; }
  std::int64_t expires_days() const { return expires_days_; }
  // What is odd about repository.json.
  const std::vector<std::string>& warnings() const { return warnings_; }

  // To be held from reading a document of the folder until what was made of it is written. EH-F18 when a
  // living process holds it for longer than two minutes without telling progress; EH-F16 where nothing can be
  // written.
  Result<cache::FileLock> lock(std::string_view program) const;

  // engines/*.json, sorted; of one that was opened to look at and has no repository.json, what its index
  // lists. EH-M17 as children_of().
  Result<std::vector<std::filesystem::path>> engine_files() const;
  bool has_engines_folder() const { return !listed_; }
  std::filesystem::path engine_file(const std::string& engine) const;
  // Where the file of a source lies; nothing when that is outside the folder.
  std::optional<std::filesystem::path> file_of(const std::string& location) const;
  // The place of a list of pieces relative to the folder.
  std::string chunk_list_name(const std::string& text) const;
  Result<void> keep_chunk_list(const std::string& text) const;
  Result<void> write_json(const std::filesystem::path& file, const Json& document) const;

  // What its archive holds, unpacked as the artifact says; nothing when nobody ever looked.
  std::optional<ArtifactFacts> facts_of(const manifest::Artifact& artifact) const;
  // Unpacked in some way.
  bool was_looked_into(const std::string& sha256) const;
  // Beside those of the same archive unpacked in another way.
  Result<void> keep_facts(const manifest::Artifact& artifact, const ArtifactFacts& facts) const;

  // The index as it stands, or nothing when there is none yet.
  Result<std::optional<manifest::Index>> index() const;
  // root.json as it stands, or nothing.
  Result<std::optional<manifest::Root>> root() const;

  // Makes manifests/ and index.json from engines/. Where nothing changed, and the index holds for more than
  // half its time, everything stays and false is returned; else the serial rises and old signatures of the
  // index go.
  Result<bool> prepare(std::int64_t now) const;

 private:
  std::filesystem::path folder_;
  std::string name_;
  std::vector<std::string> warnings_;
  std::int64_t expires_days_ = 365;
  Json blocked_;
  std::optional<std::vector<std::filesystem::path>> listed_;
};

// The .minisig files of a document of the folder. EH-M17 as children_of().
Result<std::vector<std::filesystem::path>> signatures_of(const std::filesystem::path& document);

}  // namespace enginehost::publish
