#include "tools/oci/artifact.hpp"

#include <algorithm>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "cache/tree_list.hpp"
#include "host/acquire/description.hpp"

namespace enginehost::oci {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t largest_list = 256u << 20;

std::string layer_type(const std::string& archive) {
  const std::string base = "application/vnd.enginehost.component.v1";
  if (archive == "tar.zst") return base + ".tar+zstd";
  if (archive == "tar.gz") return base + ".tar+gzip";
  if (archive == "tar.xz") return base + ".tar+xz";
  return base + "." + archive;  // zip, tar, none
}

Blob document_blob(std::string_view media_type, std::string bytes) {
  Blob blob;
  blob.descriptor.media_type = media_type;
  blob.descriptor.digest = sha256_hex(bytes);
  blob.descriptor.size = bytes.size();
  blob.bytes = std::move(bytes);
  return blob;
}

// Returns the sources that other machines can reach.
Json public_sources(const Json& artifact) {
  Json sources = Json::array();
  for (const Json& source : artifact["sources"].as_array())
    if (source.find("file") == nullptr) sources.push(source);
  return sources;
}

// Returns the published archive, if a file source still has it.
std::optional<fs::path> published_file(const Json& artifact) {
  const std::string& digest = artifact["sha256"].as_string();
  for (const Json& source : artifact["sources"].as_array()) {
    const fs::path file = path_of(source["file"].as_string());
    std::error_code error;
    if (!file.is_absolute() || !fs::is_regular_file(file, error)) continue;
    if (const auto actual = sha256_of_file(file); actual && *actual == digest) return file;
  }
  return {};
}

// Makes one artifact; an object lives for one call.
class Making {
 public:
  Making(const cache::Installed& installed, const ArtifactRequest& request,
         const std::optional<CancelToken>& cancel)
      : installed_(installed), request_(request), cancel_(cancel) {}

  Result<Artifact> run() {
    TRY_ASSIGN(artifact_.description, acquire::published_manifest(installed_));
    const Json& builds = artifact_.description["builds"];
    if (builds.as_array().size() != 1) return unusable("it does not describe one build");
    const Json build = builds.as_array().front();
    artifact_.build = installed_.build;
    artifact_.engine = installed_.engine;
    artifact_.version = installed_.version;
    artifact_.flavor = installed_.flavor;
    artifact_.components.push_back(build["plugin"]["component"].as_string());
    for (const Json& component : build["components"].as_array())
      artifact_.components.push_back(component.as_string());
    if (artifact_.components.size() != installed_.trees.size())
      return unusable("its components are not its trees");
    Json components = Json::object();
    for (std::size_t i = 0; i < artifact_.components.size(); ++i) {
      const std::string& id = artifact_.components[i];
      const Json* component = artifact_.description["components"].find(id);
      if (component == nullptr) return unusable("it does not describe " + id);
      TRY(may_be_passed_on(id, *component));
      TRY_ASSIGN(Json described, add_layer(id, installed_.trees[i], *component));
      components.set(id, std::move(described));
    }
    artifact_.description.set("components", std::move(components));
    write_documents(build);
    return std::move(artifact_);
  }

 private:
  tl::unexpected<Diagnosis> unusable(const std::string& problem) const {
    return fail(diagnose(Code::file_damaged)
                    .with(Key::build, installed_.build)
                    .with(Key::file, "the record of " + installed_.build)
                    .with(Key::problem, problem));
  }

  Result<void> may_be_passed_on(const std::string& id, const Json& component) const {
    const std::string& name = component["license"].as_string();
    const Json& license = artifact_.description["licenses"][name];
    if (name.empty() || !license.is_object()) return {};
    const std::string& said = license["redistribute"].as_string();
    // Without a statement, redistribution is assumed to be allowed only where no acceptance is needed.
    const std::string may = !said.empty()                                 ? said
                            : license["accept"].as_string() == "explicit" ? "ask"
                                                                          : "yes";
    const std::string& license_id = license["id"].as_string();
    if (may == "yes" || request_.redistribute.contains(license_id)) return {};
    return fail(diagnose(Code::redistribution_not_allowed)
                    .with(Key::build, installed_.build)
                    .with(Key::component, id)
                    .with(Key::license, license_id)
                    .with(Key::redistribute, may, said.empty() ? "not stated" : "manifest")
                    .with(Key::url, license["url"].as_string()));
  }

  // Returns the component's description, with the layer's artifact first.
  Result<Json> add_layer(const std::string& id, const std::string& tree, const Json& component) {
    Json ours, others = Json::array();
    fs::path file;
    for (const Json& artifact : component["artifacts"].as_array()) {
      const auto published = ours.is_null() ? published_file(artifact) : std::optional<fs::path>();
      Json sources = public_sources(artifact);
      if (!published && sources.as_array().empty()) continue;
      Json kept = artifact;
      kept.set("sources", std::move(sources));
      if (published) {
        file = *published;
        std::error_code error;
        ours = kept.set("size", static_cast<std::uint64_t>(fs::file_size(file, error)));
      } else {
        others.push(std::move(kept));
      }
    }
    if (ours.is_null()) {
      TRY_ASSIGN(ours, pack(tree, file));
    }
    ours.set("tree", tree);
    Blob layer;
    layer.descriptor.media_type = layer_type(ours["archive"].as_string());
    layer.descriptor.digest = ours["sha256"].as_string();
    layer.descriptor.size = static_cast<std::uint64_t>(ours["size"].as_integer());
    const std::string& archive = ours["archive"].as_string();
    layer.descriptor.annotations = {
        {std::string(component_annotation), id},
        {std::string(tree_annotation), tree},
        {"org.opencontainers.image.title", archive == "none" ? id : id + "." + archive}};
    layer.file = std::move(file);
    artifact_.layers.push_back(std::move(layer));
    Json artifacts = Json::array().push(std::move(ours));
    for (const Json& other : others.as_array()) artifacts.push(other);
    Json described = component;
    return std::move(described.set("artifacts", std::move(artifacts)));
  }

  Result<Json> pack(const std::string& tree, fs::path& file) {
    const fs::path list_file = installed_.layer / "lists" / tree;
    TRY_ASSIGN(const std::string text, read_file(list_file, largest_list));
    if (sha256_hex(text) != tree)
      return fail(diagnose(Code::file_damaged)
                      .with(Key::build, installed_.build)
                      .with(Key::file, path_text(list_file)));
    TRY_ASSIGN(const cache::TreeList list, cache::read_tree_list(text, path_text(list_file)));
    file = request_.folder / (path_of(tree + ".tar.zst"));
    TRY_ASSIGN(const Packed packed, pack_tree(list, installed_.layer / "trees" / tree, file, cancel_));
    return Json::object()
        .set("sha256", packed.sha256)
        .set("size", packed.size)
        .set("archive", "tar.zst")
        .set("tree", tree)
        .set("sources", Json::array());
  }

  void write_documents(const Json& build) {
    artifact_.config = document_blob(config_type, artifact_.description.dump(1) + "\n");
    Json layers = Json::array();
    for (const Blob& layer : artifact_.layers) layers.push(to_json(layer.descriptor));
    std::vector<std::pair<std::string, std::string>> annotations = {
        {std::string(build_annotation), artifact_.build},
        {std::string(flavor_annotation), artifact_.flavor},
        {"org.opencontainers.image.title",
         artifact_.engine + " " + artifact_.version + " " + artifact_.flavor},
        {"org.opencontainers.image.version", artifact_.version}};
    Json said = Json::object();
    for (const auto& [key, value] : annotations) said.set(key, value);
    const Json manifest = Json::object()
                              .set("schemaVersion", 2)
                              .set("mediaType", manifest_type)
                              .set("artifactType", artifact_type)
                              .set("config", to_json(artifact_.config.descriptor))
                              .set("layers", std::move(layers))
                              .set("annotations", std::move(said));
    artifact_.manifest = document_blob(manifest_type, manifest.dump(1) + "\n");
    Descriptor& entry = artifact_.manifest.descriptor;
    const PlatformName platform = platform_name(build["os"].as_string(), build["arch"].as_string());
    entry.os = platform.os;
    entry.architecture = platform.architecture;
    entry.variant = platform.variant;
    entry.artifact_type = artifact_type;
    annotations.resize(2);  // keeps build and flavor
    entry.annotations = std::move(annotations);
  }

  const cache::Installed& installed_;
  const ArtifactRequest& request_;
  const std::optional<CancelToken>& cancel_;
  Artifact artifact_;
};

}  // namespace

Json to_json(const Descriptor& descriptor) {
  Json json = Json::object();
  json.set("mediaType", descriptor.media_type)
      .set("digest", "sha256:" + descriptor.digest)
      .set("size", descriptor.size);
  if (!descriptor.artifact_type.empty()) json.set("artifactType", descriptor.artifact_type);
  if (!descriptor.os.empty()) {
    Json platform = Json::object();
    platform.set("architecture", descriptor.architecture).set("os", descriptor.os);
    if (!descriptor.variant.empty()) platform.set("variant", descriptor.variant);
    json.set("platform", std::move(platform));
  }
  if (!descriptor.annotations.empty()) {
    Json annotations = Json::object();
    for (const auto& [key, value] : descriptor.annotations) annotations.set(key, value);
    json.set("annotations", std::move(annotations));
  }
  return json;
}

Json Artifact::description_with(const std::string& reference) const {
  Json components_with = Json::object();
  for (const std::string& id : components) {
    Json component = description["components"][id], artifacts = Json::array();
    for (const Json& artifact : component["artifacts"].as_array()) {
      Json entry = artifact;
      if (artifacts.as_array().empty()) {  // the layer's artifact is the first
        Json sources = Json::array().push(Json::object().set("oci", reference));
        for (const Json& source : artifact["sources"].as_array())
          if (source["oci"].as_string() != reference) sources.push(source);
        entry.set("sources", std::move(sources));
      }
      artifacts.push(std::move(entry));
    }
    components_with.set(id, std::move(component.set("artifacts", std::move(artifacts))));
  }
  Json with = description;
  return std::move(with.set("components", std::move(components_with)));
}

Result<Artifact> make_artifact(const cache::Installed& installed, const ArtifactRequest& request,
                               const std::optional<CancelToken>& cancel) {
  if (!installed.in_place.empty())
    return fail(diagnose(Code::installation_not_exportable)
                    .with(Key::build, installed.build)
                    .with(Key::path, installed.in_place));
  return Making(installed, request, cancel).run();
}

Blob make_index(const std::vector<Artifact>& artifacts) {
  std::vector<const Artifact*> sorted;
  for (const Artifact& artifact : artifacts) sorted.push_back(&artifact);
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->build < b->build; });
  Json manifests = Json::array();
  for (const Artifact* artifact : sorted) manifests.push(to_json(artifact->entry()));
  return document_blob(index_type, Json::object()
                                           .set("schemaVersion", 2)
                                           .set("mediaType", index_type)
                                           .set("manifests", std::move(manifests))
                                           .dump(1) +
                                       "\n");
}

std::string tag_of(std::string_view build) {
  std::string tag;
  for (const char character : build.substr(0, 128)) {
    const bool allowed = (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
                         (character >= '0' && character <= '9') || character == '_' ||
                         (!tag.empty() && (character == '.' || character == '-'));
    tag += allowed ? character : '_';
  }
  return tag;
}

}  // namespace enginehost::oci
