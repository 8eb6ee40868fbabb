#include "tools/publish/workspace.hpp"

#include <system_error>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "host/acquire/installed_parts.hpp"
#include "host/manifest/fields.hpp"
#include "tools/publish/listing.hpp"
#include "tools/publish/vendor_facts.hpp"

namespace enginehost::publish {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t day = 86'400;

Diagnosis refusal(const fs::path& folder, std::string_view problem, std::string_view remedy) {
  return diagnose(Code::repository_change_refused)
      .with(Key::folder, path_text(folder))
      .with(Key::problem, problem)
      .with(Key::remedy, remedy);
}

Result<std::vector<fs::path>> json_files(const fs::path& folder) {
  TRY_ASSIGN(std::vector<fs::path> files, children_of(folder));
  std::erase_if(files, [](const fs::path& file) { return file.extension() != ".json"; });
  return files;
}

Result<std::optional<Json>> document_of(const fs::path& file) {
  TRY_ASSIGN(const bool there, is_there(file));
  if (!there) return std::nullopt;
  TRY_ASSIGN(const std::string text, read_file(file, 8u << 20));
  TRY_ASSIGN(Json document, parse_json(text, path_text(file)));
  return std::optional(std::move(document));
}

Diagnosis no_workspace(const fs::path& folder) {
  const auto there = is_there(folder), index = is_there(folder / "index.json");
  if (there && !*there)
    return refusal(folder, "there is no such folder", "check the path; engine-manifest init makes one");
  if (index && *index)
    return refusal(
        folder,
        "there is no repository.json in it: its index.json is that of a repository that was published, "
        "or written by hand",
        "name the folder that it is published from");
  return refusal(folder, "there is no repository.json in it",
                 "name the folder of a repository; engine-manifest init makes one");
}

}  // namespace

fs::path lock_of_published(const fs::path& folder) {
  return folder.parent_path() / ("." + path_text(folder.filename()) + ".lock");
}

Result<std::vector<fs::path>> signatures_of(const fs::path& document) {
  const std::string start = path_text(document.filename()) + ".";
  TRY_ASSIGN(std::vector<fs::path> files, children_of(document.parent_path()));
  std::erase_if(files, [&](const fs::path& file) {
    const std::string name = path_text(file.filename());
    return !name.starts_with(start) || !name.ends_with(".minisig");
  });
  return files;
}

Result<Workspace> Workspace::create(const fs::path& folder, const std::string& name) {
  TRY_ASSIGN(const fs::file_type type, type_of(folder));
  if (type != fs::file_type::not_found && type != fs::file_type::directory)
    return fail(refusal(folder, "it is no folder", "choose another name"));
  TRY_ASSIGN(const bool published, is_there(folder / "index.json"));
  TRY_ASSIGN(const bool made_before, is_there(folder / "repository.json"));
  if (published && !made_before)
    return fail(refusal(folder,
                        "it has an index.json, and so is a repository that was published or written by hand",
                        "choose another folder, to publish from"));
  TRY(make_folders(folder));
  Workspace workspace;
  workspace.folder_ = folder;
  workspace.name_ = name;
  TRY_ASSIGN(const cache::FileLock lock, workspace.lock("engine-manifest init"));
  TRY_ASSIGN(const bool there, is_there(folder / "repository.json"));
  if (there) return fail(refusal(folder, "it is a repository already", "choose another folder"));
  for (const char* part : {"engines", "facts", "files"}) TRY(make_folders(folder / part));
  TRY(workspace.write_json(folder / "repository.json", Json::object()
                                                           .set("format", 1)
                                                           .set("name", name)
                                                           .set("expires_days", workspace.expires_days_)
                                                           .set("blocked", Json::array())));
  return workspace;
}

Result<Workspace> Workspace::open(const fs::path& folder) {
  const fs::path file = folder / "repository.json";
  TRY_ASSIGN(const std::optional<Json> document, document_of(file));
  if (!document) return fail(no_workspace(folder));
  Workspace workspace;
  workspace.folder_ = folder;
  manifest::Reading reading{path_text(file), {}, {}};
  manifest::Fields fields(reading, *document, "");
  std::int64_t format = 0;
  fields.number("format", manifest::Need::required, 1, 1, format);
  fields.text("name", manifest::Need::required, manifest::is_text, workspace.name_);
  fields.number("expires_days", manifest::Need::optional, 1, 36500, workspace.expires_days_);
  read_blocked(reading, fields);
  if (const Json* blocked = document->find("blocked")) workspace.blocked_ = *blocked;
  fields.find("$schema", manifest::Need::optional);
  fields.warn_of_unknown();
  if (reading.mistake) return fail(std::move(*reading.mistake));
  workspace.warnings_ = std::move(reading.warnings);
  return workspace;
}

Result<Workspace> Workspace::open_to_look(const fs::path& folder) {
  std::error_code error;
  if (fs::exists(folder / "repository.json", error) || !fs::exists(folder / "index.json", error))
    return open(folder);
  Workspace workspace;
  workspace.folder_ = folder;
  TRY_ASSIGN(const std::optional<manifest::Index> index, workspace.index());
  workspace.listed_.emplace();
  if (!index) return workspace;
  workspace.name_ = index->name;
  for (const manifest::IndexEntry& entry : index->manifests)
    workspace.listed_->push_back(folder / path_of(entry.path));
  return workspace;
}

Result<cache::FileLock> Workspace::lock(std::string_view program) const {
  return cache::FileLock::exclusive(folder_ / ".lock", program);
}

Result<std::vector<fs::path>> Workspace::engine_files() const {
  if (listed_) return *listed_;
  return json_files(folder_ / "engines");
}

fs::path Workspace::engine_file(const std::string& engine) const {
  return folder_ / "engines" / (path_of(engine + ".json"));
}

std::optional<fs::path> Workspace::file_of(const std::string& location) const {
  fs::path file = (folder_ / path_of(location)).lexically_normal();
  if (!is_below(file, folder_)) return std::nullopt;
  return file;
}

std::string Workspace::text_of(const Json& document) { return document.dump(1) + "\n"; }

Result<void> Workspace::write_json(const fs::path& file, const Json& document) const {
  TRY(make_folders(file.parent_path()));
  return write_file(file, text_of(document));
}

std::optional<ArtifactFacts> facts_in(const fs::path& folder, const manifest::Artifact& artifact) {
  const std::string key = acquire::archive_key(artifact);
  for (const std::string& name : {artifact.sha256, key}) {
    const auto document = document_of(folder / (path_of(name + ".json")));
    if (!document || !*document) continue;
    ArtifactFacts facts = facts_from_json(**document);
    if (facts.unpacked_as == key) return facts;
  }
  return std::nullopt;
}

Result<void> keep_facts_in(const fs::path& folder, const manifest::Artifact& artifact,
                           const ArtifactFacts& facts) {
  // The file named after the archive belongs to the first artifact. Another build that unpacks the same bytes
  // differently (`strip`, `select`) still needs its own facts.
  const std::string key = acquire::archive_key(artifact);
  const fs::path first = folder / path_of(artifact.sha256 + ".json");
  const auto known = document_of(first);
  std::error_code error;
  const bool taken =
      fs::exists(first, error) && !(known && *known && (**known)["unpacked_as"].as_string() == key);
  TRY(make_folders(folder));
  return write_file(taken ? folder / path_of(key + ".json") : first, Workspace::text_of(to_json(facts)));
}

std::optional<ArtifactFacts> Workspace::facts_of(const manifest::Artifact& artifact) const {
  return facts_in(folder_ / "facts", artifact);
}

bool Workspace::was_looked_into(const std::string& sha256) const {
  std::error_code error;
  return fs::exists(folder_ / "facts" / (sha256 + ".json"), error);
}

Result<void> Workspace::keep_facts(const manifest::Artifact& artifact, const ArtifactFacts& facts) const {
  return keep_facts_in(folder_ / "facts", artifact, facts);
}

std::string Workspace::chunk_list_name(const std::string& text) const {
  return "chunks/" + sha256_hex(text) + ".txt";
}

Result<void> Workspace::keep_chunk_list(const std::string& text) const {
  TRY(make_folders(folder_ / "chunks"));
  return write_file(folder_ / path_of(chunk_list_name(text)), text);
}

Result<std::optional<manifest::Index>> Workspace::index() const {
  const fs::path file = folder_ / "index.json";
  TRY_ASSIGN(const std::optional<Json> document, document_of(file));
  if (!document) return std::nullopt;
  return manifest::read_index(*document, path_text(file)).map([](manifest::Index&& index) {
    return std::optional(std::move(index));
  });
}

Result<std::optional<manifest::Root>> Workspace::root() const {
  const fs::path file = folder_ / "root.json";
  TRY_ASSIGN(const std::optional<Json> document, document_of(file));
  if (!document) return std::nullopt;
  return manifest::read_root(*document, path_text(file)).map([](manifest::Root&& root) {
    return std::optional(std::move(root));
  });
}

Result<bool> Workspace::prepare(std::int64_t now) const {
  Json entries = Json::array();
  TRY_ASSIGN(const std::vector<fs::path> files, engine_files());
  for (const fs::path& file : files) {
    TRY_ASSIGN(const std::string bytes, read_file(file, 8u << 20));
    // Refuses manifests that no reader accepts before the index is made for signing.
    TRY_ASSIGN(const Json document, parse_json(bytes, path_text(file)));
    TRY_ASSIGN(const auto manifest, manifest::read_manifest(document, path_text(folder_), path_text(file)));
    const std::string digest = sha256_hex(bytes);
    const std::string path = manifest::path_of_manifest(manifest->engine, digest);
    const auto made = read_file(folder_ / path_of(path));
    if (!made || *made != bytes) {
      TRY(make_folders(folder_ / "manifests"));
      TRY(write_file(folder_ / path_of(path), bytes));
    }
    entries.push(Json::object()
                     .set("path", path)
                     .set("sha256", digest)
                     .set("size", static_cast<std::int64_t>(bytes.size())));
  }
  const fs::path place = folder_ / "index.json";
  TRY_ASSIGN(const std::optional<Json> before, document_of(place));
  TRY_ASSIGN(const Json facts, prepare_vendor_facts(folder_, before));
  const Json blocked = blocked_.is_array() ? blocked_ : Json::array();
  const bool same = before && (*before)["manifests"] == entries && (*before)["name"].as_string() == name_ &&
                    (*before)["vendor_facts"] == facts &&
                    (before->find("blocked") == nullptr ? Json::array() : (*before)["blocked"]) == blocked;
  const auto until = before ? manifest::seconds_of_time((*before)["expires"].as_string()) : std::nullopt;
  if (same && until && *until - now > expires_days_ * day / 2) return false;

  const std::int64_t serial = before ? (*before)["serial"].as_integer() + 1 : 1;
  Json index = Json::object();
  index.set("format", 1)
      .set("name", name_)
      .set("serial", serial)
      .set("created", text_of_time(now))
      .set("expires", text_of_time(now + expires_days_ * day))
      .set("manifests", std::move(entries));
  if (!blocked.as_array().empty()) index.set("blocked", blocked);
  if (!facts.is_null()) index.set("vendor_facts", facts);
  TRY(manifest::read_index(index, path_text(place)).map([](const auto&) {}));
  TRY_ASSIGN(const std::vector<fs::path> signatures, signatures_of(place));
  std::error_code error;
  for (const fs::path& signature : signatures) fs::remove(signature, error);
  TRY(write_json(place, index));
  return true;
}

}  // namespace enginehost::publish
