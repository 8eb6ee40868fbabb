#include "tools/publish/add.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <system_error>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "cache/tree_list.hpp"
#include "host/acquire/description.hpp"
#include "host/acquire/partial_zip.hpp"
#include "host/manifest/repository.hpp"
#include "host/manifest/shapes.hpp"
#include "host/transfer/chunk_list.hpp"
#include "tools/publish/listing.hpp"
#include "tools/publish/names.hpp"
#include "tools/publish/pack.hpp"
#include "tools/publish/partial_downloads.hpp"
#include "tools/publish/requirements.hpp"

namespace enginehost::publish {
namespace {

namespace fs = std::filesystem;

Diagnosis file_refusal(const fs::path& file, std::string_view problem, std::string_view remedy) {
  return diagnose(Code::repository_change_refused)
      .with(Key::file, path_text(file))
      .with(Key::problem, problem)
      .with(Key::remedy, remedy);
}

// One of the two inputs: the engine's files, or its plugin.
struct Part {
  fs::path file;  // the given file, or the archive made of it
  manifest::Artifact artifact;
  ArtifactFacts facts;
  Json sources = Json::array();
  std::string copy;                               // its path in the repository, if it has no other source
  std::string chunks, chunks_sha256, chunk_list;  // the list of its pieces, if it has one
  bool packed = false;                            // packed here, in the scratch folder
  std::string component;                          // its id in the manifest
  bool names_files = false;                       // the manifest names each file, besides the tree
  std::vector<transfer::Range> ranges;            // of a zip, if not all of it is fetched
};

// Refuses a folder that contains the repository, because its archives and other files would be packed too.
Result<void> check_folder(const fs::path& given, const fs::path& scratch) {
  std::error_code error;
  const fs::path folder = fs::canonical(given, error);
  const fs::path own = fs::weakly_canonical(scratch, error).parent_path().parent_path();
  if (error || !is_below(own, folder)) return {};
  return fail(file_refusal(given, "the repository lies in it, " + path_text(own),
                           "name the folder of the engine's files alone"));
}

Result<Part> take(const fs::path& given, const AddRequest& request, bool is_main, const fs::path& scratch) {
  Part part;
  part.file = given;
  std::error_code error;
  const fs::file_type type = fs::status(given, error).type();
  if (type == fs::file_type::none)  // it cannot be determined whether it exists
    return fail(diagnose_errno(Code::file_not_readable, error.default_error_condition().value())
                    .with(Key::file, path_text(given)));
  if (type == fs::file_type::not_found)
    return fail(diagnose(Code::file_not_readable).with(Key::file, path_text(given)));
  const bool is_folder = type == fs::file_type::directory;
  if (!is_folder && type != fs::file_type::regular)
    return fail(diagnose(Code::file_not_readable)
                    .with(Key::file, path_text(given))
                    .with(Key::problem, type == fs::file_type::fifo ? "a named pipe, not a file"
                                                                    : "neither a file nor a folder"));
  if (is_folder) {
    TRY(check_folder(given, scratch));
    TRY(make_folders(scratch));
    part.file = scratch / (path_text(given.lexically_normal().filename()) + ".tar.zst");
    if (part.file.filename() == ".tar.zst") part.file = scratch / "folder.tar.zst";
    TRY(pack_folder(given, part.file));
    part.packed = true;
  }
  const std::string name = path_text(part.file.filename());
  part.artifact.archive = archive_kind(name);
  if (part.artifact.archive == "none") part.artifact.path = name;
  if (is_main) {
    part.artifact.select = request.select;
    part.artifact.strip = request.strip;
  }
  TRY_ASSIGN(part.artifact.sha256, sha256_of_file(part.file));
  part.artifact.size = fs::file_size(part.file, error);
  if (is_main && !is_folder)
    for (const std::string& url : request.urls) part.sources.push(Json::object().set("url", url));
  if (name.ends_with(".whl") && part.sources.as_array().empty() && !read_wheel_name(name))
    return fail(file_refusal(
        given, "it is not named as wheels are: no package index has it under that name",
        "give it back its name (NAME-VERSION-PYTHON-ABI-PLATFORM.whl), or say where it lies: --url URL"));
  if (name.ends_with(".whl") && part.sources.as_array().empty())
    part.sources.push(Json::object().set(
        "package_index",
        Json::object().set("project", normal_project(name.substr(0, name.find('-')))).set("file", name)));
  auto facts = look_into(part.artifact, part.file, scratch / "unpacked");
  // A problem with an archive is reported for the given file.
  if (!facts &&
      (facts.error().code == Code::archive_entry_refused || facts.error().code == Code::archive_not_unpacked))
    facts.error().with(Key::file, path_text(given));
  TRY_ASSIGN(part.facts, std::move(facts));
  // An archive with an unusual directory is fetched whole.
  if (part.artifact.archive == "zip")
    if (auto ranges = ranges_to_fetch(part.file, part.artifact, part.facts.entries))
      part.ranges = std::move(*ranges);
  return part;
}

// Archives without another source are copied under this name. Writes nothing yet.
void name_copy(Part& part) {
  if (!part.sources.as_array().empty()) return;
  part.copy = "files/" + part.artifact.sha256.substr(0, 16) + "-" + path_text(part.file.filename());
  part.sources.push(Json::object().set("file", part.copy));
}

Result<void> list_chunks(const Workspace& workspace, Part& part, std::uint64_t from) {
  if (*part.artifact.size < from) return {};
  TRY_ASSIGN(const transfer::ChunkList list, chunk_list_of(part.file));
  part.chunk_list = list.text();
  part.chunks_sha256 = sha256_hex(part.chunk_list);
  part.chunks = workspace.chunk_list_name(part.chunk_list);
  return {};
}

// Files that were copied into the repository's folder; removed unless the manifest that names them is
// written.
class Brought {
 public:
  Brought() = default;
  ~Brought() {
    std::error_code error;
    for (const fs::path& file : files_) fs::remove(file, error);
  }
  Brought(const Brought&) = delete;
  Brought& operator=(const Brought&) = delete;

  Result<void> bring(const Workspace& workspace, const Part& part) {
    if (!part.copy.empty()) TRY(copy(part, workspace.folder() / path_of(part.copy)));
    if (part.chunks.empty()) return {};
    TRY(note(workspace.folder() / path_of(part.chunks)));
    return workspace.keep_chunk_list(part.chunk_list);
  }
  void keep() { files_.clear(); }

 private:
  // Another build may refer to a file that existed before.
  Result<void> note(const fs::path& place) {
    TRY_ASSIGN(const bool there, is_there(place));
    if (!there) files_.push_back(place);
    return {};
  }
  // Leaves an existing file alone because other builds refer to it. Otherwise the file appears complete in
  // one rename. Its temporary name is the same for all processes, which add one after the other.
  Result<void> copy(const Part& part, const fs::path& place) {
    if (const auto there = sha256_of_file(place); there && *there == part.artifact.sha256) return {};
    TRY(make_folders(place.parent_path()));
    TRY(note(place));
    return copy_into_place(part.file, place, place.parent_path() / ".adding");
  }

  std::vector<fs::path> files_;
};

// `alone`: it holds only the plugin and nothing of its runtime.
Json component_of(const Part& part, const AddRequest& request, bool alone) {
  Json artifact = Json::object();
  artifact.set("sha256", part.artifact.sha256)
      .set("size", *part.artifact.size)
      .set("archive", part.artifact.archive);
  if (part.artifact.archive == "none") artifact.set("path", part.artifact.path);
  if (part.artifact.strip != 0) artifact.set("strip", part.artifact.strip);
  if (!part.artifact.select.empty()) artifact.set("select", Json::strings(part.artifact.select));
  artifact.set("tree", part.facts.tree);
  if (!part.chunks.empty())
    artifact.set("chunks", Json::object()
                               .set("sha256", part.chunks_sha256)
                               .set("sources", Json::array().push(Json::object().set("file", part.chunks))));
  artifact.set("sources", part.sources);
  if (part.names_files) artifact.set("files", acquire::named_files(part.facts.entries));
  if (part.names_files && !part.ranges.empty()) artifact.set("ranges", acquire::named_ranges(part.ranges));
  Json component = Json::object()
                       .set("version", request.version)
                       .set("license", request.license)
                       .set("artifacts", Json::array().push(std::move(artifact)));
  if (const auto names = stand_ins_of(part.facts); !names.empty())
    component.set("stands_in_for", Json::strings(names));
  if (alone)
    for (const LibraryFacts& library : part.facts.libraries)
      if (library.plugin)
        if (auto adapter = adapter_of(library)) component.set("adapter", std::move(*adapter));
  return component;
}

// Returns folders that contain libraries, without the view's own.
std::vector<std::string> search_folders(const ArtifactFacts& facts) {
  std::set<std::string> folders;
  for (const LibraryFacts& library : facts.libraries)
    if (const std::size_t slash = library.path.rfind('/'); slash != std::string::npos && !library.plugin)
      folders.insert(library.path.substr(0, slash));
  return {folders.begin(), folders.end()};
}

Result<Json> engine_manifest(const Workspace& workspace, const std::string& engine) {
  const fs::path file = workspace.engine_file(engine);
  TRY_ASSIGN(const bool there, is_there(file));
  if (!there)
    return Json::object()
        .set("format", 1)
        .set("engine", engine)
        .set("serial", 0)
        .set("licenses", Json::object())
        .set("components", Json::object())
        .set("builds", Json::array());
  TRY_ASSIGN(const std::string text, read_file(file, 8u << 20));
  return parse_json(text, path_text(file));
}

// Compares components of one artifact, as add writes them. They differ in their bytes, or in the files taken
// from the same bytes.
bool are_other_files(const Json& known, const Json& component) {
  if (known["artifacts"].as_array().size() != 1) return false;
  const Json &before = known["artifacts"].as_array()[0], &now = component["artifacts"].as_array()[0];
  return before["sha256"] != now["sha256"] || (before["tree"].is_string() && before["tree"] != now["tree"]);
}

bool uses(const Json& build, const std::string& component) {
  const auto& others = build["components"].as_array();
  return build["plugin"]["component"].as_string() == component ||
         std::any_of(others.begin(), others.end(),
                     [&](const Json& one) { return one.as_string() == component; });
}

// Builds of one engine share component names, so other files under a name would change those builds, too.
// Components that only `build` uses are replaced with it.
Result<void> put_component(Json& manifest, const std::string& id, Json component, const std::string& build,
                           const fs::path& file) {
  Json components = manifest["components"];
  if (const Json* known = components.find(id); known != nullptr && are_other_files(*known, component))
    for (const Json& other : manifest["builds"].as_array())
      if (uses(other, id) && other["id"].as_string() != build)
        return fail(file_refusal(
            file,
            "component " + id + " has other bytes already, and " + other["id"].as_string() + " uses them",
            "give the build another --version, or remove the old one from the manifest"));
  components.set(id, std::move(component));
  manifest.set("components", std::move(components));
  return {};
}

// Refuses another id for a license name that other components use.
Result<void> put_license(Json& manifest, const AddRequest& request, const fs::path& file) {
  Json licenses = manifest["licenses"];
  const Json* known = licenses.find(request.license);
  if (known != nullptr && !request.license_id.empty() && (*known)["id"].as_string() != request.license_id)
    return fail(file_refusal(file,
                             "license " + request.license + " is " + (*known)["id"].as_string() +
                                 " there, and not " + request.license_id,
                             "give the license another name: --license NAME, or correct its id there"));
  if (known == nullptr)
    licenses.set(request.license, Json::object().set("id", request.license_id.empty() ? "LicenseRef-unknown"
                                                                                      : request.license_id));
  manifest.set("licenses", std::move(licenses));
  return {};
}

void put_build(Json& manifest, Json build) {
  Json builds = Json::array();
  bool placed = false;
  for (const Json& known : manifest["builds"].as_array()) {
    const bool same = known["id"] == build["id"];
    placed = placed || same;
    builds.push(same ? build : known);
  }
  if (!placed) builds.push(std::move(build));
  manifest.set("builds", std::move(builds));
}

// A file that is no archive is named by the artifact's own digest and size.
void decide_names(Part& part, Added& added) {
  if (part.artifact.archive == "none") return;
  const std::string path = unnameable_path(part.facts.files);
  part.names_files = path.empty();
  if (!part.names_files)
    added.warnings.push_back(
        diagnose(Code::manifest_fails_for_users)
            .with(Key::document, path_text(added.manifest))
            .with(Key::member, "components." + part.component)
            .with(Key::problem,
                  "its files are named by \"tree\" alone: no manifest can hold the path " + path)
            .with(Key::remedy, "rename it, and add the build again"));
}

struct Room {
  std::uint64_t bytes;  // what the manifest may have
  std::string limit;    // the same for messages, with the reason
};

// Clients read so much of one manifest, and of all manifests of the repository together.
Result<Room> room_for(const Workspace& workspace, const fs::path& file) {
  TRY_ASSIGN(const std::vector<fs::path> files, workspace.engine_files());
  std::uint64_t others = 0;
  std::error_code error;
  for (const fs::path& other : files)
    if (other.filename() != file.filename()) others += fs::file_size(other, error);
  const std::uint64_t most = manifest::most_manifest_bytes, left = most - std::min(others, most);
  if (left >= manifest::largest_document)
    return Room{manifest::largest_document, std::to_string(manifest::largest_document) + " of a manifest"};
  return Room{left, std::to_string(most) + " of all manifests of a repository, and the others have " +
                        std::to_string(others)};
}

// Drops names of files, those of the part with the most first, until clients read the manifest. "tree" stays,
// so that the files are compared all the same.
Result<void> fit(const Workspace& workspace, const AddRequest& request, std::vector<Part>& parts,
                 Json& manifest, Added& added) {
  TRY_ASSIGN(const Room room, room_for(workspace, added.manifest));
  for (std::uint64_t size; (size = Workspace::text_of(manifest).size()) > room.bytes;) {
    Part* largest = nullptr;
    for (Part& part : parts)
      if (part.names_files && (largest == nullptr || part.facts.files.size() > largest->facts.files.size()))
        largest = &part;
    const std::string problem = "it would have " + pluralize(size, "byte", "bytes") +
                                ", and users' machines read at most " + room.limit;
    if (largest == nullptr)
      return fail(file_refusal(added.manifest, problem, "remove builds from it that you no longer offer"));
    largest->names_files = false;
    Json components = manifest["components"];
    components.set(largest->component, component_of(*largest, request, largest != &parts.front()));
    manifest.set("components", std::move(components));
    added.warnings.push_back(
        diagnose(Code::manifest_fails_for_users)
            .with(Key::document, path_text(added.manifest))
            .with(Key::member, "components." + largest->component)
            .with(Key::problem, "its " + pluralize(largest->facts.files.size(), "file is", "files are") +
                                    " named by \"tree\" alone: with each of them " + problem)
            .with(Key::remedy,
                  "take fewer files (--select), or remove builds that you no longer offer and add this "
                  "one again"));
  }
  return {};
}

Diagnosis of_several_systems(const std::vector<Part>& parts, const AddRequest& request) {
  std::map<std::string, std::string> first;  // the first library of each system
  for (std::size_t i = 0; i < parts.size(); ++i)
    for (const LibraryFacts& library : parts[i].facts.libraries) {
      ArtifactFacts alone;
      alone.libraries = {library};
      const System system = system_of({alone});
      first.emplace(system.os + " " + system.arch,
                    i == 0 ? library.path : path_text(request.plugin.filename()));
    }
  if (first.empty())
    return file_refusal(request.file, "it holds no library, as far as it is unpacked",
                        "name the engine's files, and see whether --select leaves any of them");
  std::vector<std::string> by_system;
  for (const auto& [system, library] : first) by_system.push_back(library + " is for " + system);
  return file_refusal(request.file,
                      "its libraries are not for one system and processor: " + join(by_system, ", "),
                      parts.size() > 1 ? "pair plugin and engine of one system, or choose with --select"
                                       : "choose with --select");
}

Result<LibraryFacts> plugin_of(const std::vector<ArtifactFacts>& parts, const AddRequest& request) {
  std::vector<LibraryFacts> found;
  std::vector<std::string> plugins;
  for (const ArtifactFacts& part : parts)
    for (const LibraryFacts& library : part.libraries)
      if (library.plugin) {
        found.push_back(library);
        plugins.push_back(library.path);
      }
  const fs::path& file = request.plugin.empty() ? request.file : request.plugin;
  if (plugins.empty())
    return fail(
        file_refusal(file, "no library in it exports engine_plugin_v1",
                     "name the engine's plugin: --plugin FILE (docs/engine-authors.md says how it is made)"));
  if (plugins.size() > 1)
    return fail(
        file_refusal(file, "it holds several plugins: " + join(plugins, ", "), "choose with --select"));
  return found.front();
}

// The descriptor's own list, unless another is given.
std::vector<std::string> capabilities_of(const AddRequest& request, const LibraryFacts& plugin) {
  return request.capabilities.empty() && plugin.plugin_texts ? plugin.plugin_texts->capabilities
                                                             : request.capabilities;
}

}  // namespace

std::string archive_kind(const std::string& file_name) {
  constexpr std::pair<std::string_view, const char*> endings[] = {
      {".whl", "zip"},       {".zip", "zip"},         {".tar.gz", "tar.gz"}, {".tgz", "tar.gz"},
      {".tar.xz", "tar.xz"}, {".tar.zst", "tar.zst"}, {".tar", "tar"}};
  for (const auto& [ending, kind] : endings)
    if (file_name.ends_with(ending)) return kind;
  return "none";
}

Result<Added> add(const Workspace& workspace, const AddRequest& request) {
  TRY_ASSIGN(const Scratch owned, Scratch::make(workspace));
  const fs::path& scratch = owned.folder();
  std::vector<Part> parts;
  TRY_ASSIGN(Part main, take(request.file, request, true, scratch / "main"));
  parts.push_back(std::move(main));
  if (!request.plugin.empty()) {
    TRY_ASSIGN(Part plugin, take(request.plugin, request, false, scratch / "plugin"));
    parts.push_back(std::move(plugin));
  }
  std::vector<ArtifactFacts> facts;
  std::vector<std::string> trees;
  for (const Part& part : parts) {
    facts.push_back(part.facts);
    trees.push_back(part.facts.tree);
  }
  const System system = system_of(facts);
  if (system.os.empty()) return fail(of_several_systems(parts, request));
  TRY_ASSIGN(const LibraryFacts plugin, plugin_of(facts, request));

  const std::string platform = system.os + "-" + system.arch;
  const std::string name = request.engine + "-" + request.version + "-" + request.flavor + "-" + platform;
  Added added;
  added.build = request.id.empty() ? name : request.id;
  added.requirements = requirements_of(facts, request.flavor);
  // From here on the manifest is read, changed and written; concurrent calls wait.
  TRY_ASSIGN(const cache::FileLock lock, workspace.lock("engine-manifest add"));
  TRY_ASSIGN(Json manifest, engine_manifest(workspace, request.engine));
  const bool separate = parts.size() > 1;
  const std::string plugin_component =
      separate ? request.engine + "-plugin-" + request.version + "-" + request.flavor + "-" + platform : name;
  added.manifest = workspace.engine_file(request.engine);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Part& part = parts[i];
    part.component = i == 0 ? name : plugin_component;
    name_copy(part);
    decide_names(part, added);
    TRY(list_chunks(workspace, part, request.chunks_from));
    TRY(put_component(manifest, part.component, component_of(part, request, i != 0), added.build, part.file));
  }
  if (const std::string problem =
          plugin.plugin_texts ? unserved_release(*plugin.plugin_texts, request.version) : "";
      !problem.empty())
    added.warnings.push_back(diagnose(Code::manifest_fails_for_users)
                                 .with(Key::document, path_text(added.manifest))
                                 .with(Key::member, "builds." + added.build + ".plugin")
                                 .with(Key::problem, problem)
                                 .with(Key::remedy, remedy_of_unserved_release));
  TRY(put_license(manifest, request, workspace.engine_file(request.engine)));

  Json build = Json::object();
  build.set("id", added.build)
      .set("version", request.version)
      .set("flavor", request.flavor)
      .set("os", system.os)
      .set("arch", system.arch)
      .set("digest", cache::digest_of_trees(trees))
      .set("requires", added.requirements)
      .set("plugin", Json::object().set("component", plugin_component).set("path", plugin.path))
      .set("components", separate ? Json::array().push(name) : Json::array())
      .set("search", Json::strings(search_folders(parts.front().facts)))
      .set("lazy", Json::strings(request.lazy))
      .set("capabilities", Json::strings(capabilities_of(request, plugin)))
      .set("priority", request.priority);
  put_build(manifest, std::move(build));
  manifest.set("serial", manifest["serial"].as_integer() + 1);
  TRY(fit(workspace, request, parts, manifest, added));
  // Checks first that readers would accept the manifest, so that a refusal leaves no files behind.
  TRY(manifest::read_manifest(manifest, path_text(workspace.folder()), path_text(added.manifest))
          .map([](const auto&) {}));
  Brought brought;
  for (const Part& part : parts) TRY(brought.bring(workspace, part));
  for (const Part& part : parts) TRY(workspace.keep_facts(part.artifact, part.facts));
  TRY(workspace.write_json(added.manifest, manifest));
  brought.keep();
  return added;
}

}  // namespace enginehost::publish
