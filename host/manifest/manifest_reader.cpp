#include <algorithm>
#include <limits>
#include <set>

#include "base/text.hpp"
#include "host/manifest/catalog.hpp"
#include "host/manifest/fields.hpp"

namespace enginehost::manifest {
namespace {

std::string element(std::string_view place, std::size_t index) {
  return std::string(place) + "[" + std::to_string(index) + "]";
}

std::optional<Source> read_source(Reading& reading, const Json& object, const std::string& place) {
  Source source;
  int kinds = 0;
  Fields fields(reading, object, place);
  const auto location = [&](const char* name, Source::Kind kind, Shape shape) {
    if (object.find(name) != nullptr) {
      source.kind = kind;
      ++kinds;
    }
    fields.text(name, Need::optional, shape, source.location);
  };
  location("url", Source::Kind::url, is_url_text);
  location("file", Source::Kind::file, is_text);
  location("oci", Source::Kind::oci, is_text);
  if (const Json* index = fields.object("package_index", Need::optional)) {
    source.kind = Source::Kind::package_index;
    ++kinds;
    Fields names(reading, *index, fields.place_of("package_index"));
    names.text("project", Need::required, is_id, source.project);
    names.text("file", Need::required, is_file_name, source.file);
    names.warn_of_unknown();
  }
  if (!fields.usable()) return std::nullopt;
  const bool odd = !fields.warn_of_unknown().empty();
  if (kinds > 1) reading.refuse(place, "it names more than one of url, file, package_index, oci");
  // A source of a kind that only later versions know is skipped; an empty object is always a mistake.
  if (kinds == 0 && !odd) reading.refuse(place, "it names none of url, file, package_index, oci");
  return kinds == 1 ? std::optional(std::move(source)) : std::nullopt;
}

std::vector<Source> read_sources(Reading& reading, Fields& fields) {
  std::vector<Source> result;
  if (const Json* sources = fields.array("sources", Need::required))
    for (std::size_t i = 0; i < sources->as_array().size(); ++i)
      if (auto source = read_source(reading, sources->as_array()[i], element(fields.place_of("sources"), i)))
        result.push_back(std::move(*source));
  return result;
}

// The files must give the tree, by which installed files are compared.
std::vector<cache::TreeEntry> read_files(Reading& reading, Fields& fields, const std::string& tree) {
  cache::TreeList list;
  const Json* files = fields.array("files", Need::nullable);
  if (files == nullptr) return {};
  for (const Json& object : files->as_array()) {
    cache::TreeEntry entry;
    std::optional<std::uint64_t> size;
    bool executable = false;
    Fields members(reading, object, element(fields.place_of("files"), list.entries.size()));
    members.text("path", Need::required, is_view_path, entry.path);
    const bool is_link = object.find("link") != nullptr;
    if (is_link) {
      members.text("link", Need::required, is_text, entry.identity);
      const std::string_view problem = cache::link_problem(entry.path, entry.identity);
      if (!problem.empty()) reading.refuse(members.place_of("link"), problem);
      size = entry.identity.size();
    } else {
      members.text("sha256", Need::required, is_digest, entry.identity);
      members.size("size", Need::required, size, 0);
      members.flag("executable", executable);
    }
    members.warn_of_unknown();
    if (reading.mistake) return {};
    entry.kind = is_link      ? cache::TreeEntry::Kind::link
                 : executable ? cache::TreeEntry::Kind::executable
                              : cache::TreeEntry::Kind::file;
    entry.size = size.value_or(0);
    list.entries.push_back(std::move(entry));
  }
  if (list.id() != tree) reading.refuse(fields.place_of("files"), "these files do not give \"tree\"");
  return std::move(list.entries);
}

// Each range is a request, and their sum is the size of the download.
std::vector<transfer::Range> read_ranges(Reading& reading, Fields& fields, const Artifact& artifact) {
  constexpr std::size_t most_ranges = 1000;
  const Json* ranges = fields.array("ranges", Need::nullable);
  if (ranges == nullptr) return {};
  if (artifact.archive != "zip" || (artifact.files.empty() && artifact.unpacked == 0) || !artifact.size) {
    reading.refuse(fields.place_of("ranges"), "only a zip archive with \"files\" and \"size\" has ranges");
    return {};
  }
  if (ranges->as_array().size() > most_ranges) {
    reading.refuse(fields.place_of("ranges"), "more than 1000");
    return {};
  }
  std::vector<transfer::Range> result;
  for (const Json& object : ranges->as_array()) {
    std::optional<std::uint64_t> begin, end;
    Fields members(reading, object, element(fields.place_of("ranges"), result.size()));
    members.size("begin", Need::required, begin);
    members.size("end", Need::required, end, 1);
    members.warn_of_unknown();
    if (reading.mistake || !begin || !end) return {};
    if (*begin >= *end || *end > *artifact.size || (!result.empty() && *begin <= result.back().end))
      reading.refuse(element(fields.place_of("ranges"), result.size()),
                     "it is empty, not behind the one before it, or not in the archive");
    result.push_back({*begin, *end});
  }
  return result;
}

// The headers are the same archive's, so that one digest stands for both.
std::shared_ptr<const Artifact> read_headers(Reading& reading, Fields& fields, const Artifact& artifact) {
  const Json* object = fields.object("headers", Need::optional);
  if (object == nullptr) return nullptr;
  auto headers = std::make_shared<Artifact>(artifact);
  headers->select.clear();
  headers->files.clear();
  headers->ranges.clear();
  Fields members(reading, *object, fields.place_of("headers"));
  members.patterns("select", headers->select);
  members.text("tree", Need::required, is_digest, headers->tree);
  std::optional<std::uint64_t> unpacked;
  members.size("unpacked", Need::required, unpacked, 1);
  headers->unpacked = unpacked.value_or(0);
  headers->ranges = read_ranges(reading, members, *headers);
  members.warn_of_unknown();
  return headers;
}

Artifact read_artifact(Reading& reading, const Json& object, const std::string& place) {
  Artifact artifact;
  Fields fields(reading, object, place);
  fields.text("sha256", Need::nullable, is_digest, artifact.sha256);
  fields.text("archive", Need::required, is_archive, artifact.archive);
  fields.size("size", Need::nullable, artifact.size,
              artifact.archive == "none" ? 0 : 1);  // an archive is never empty
  fields.text("tree", Need::nullable, is_digest, artifact.tree);
  fields.text("path", artifact.archive == "none" ? Need::required : Need::optional, is_view_path,
              artifact.path);
  std::int64_t strip = 0;
  fields.number("strip", Need::optional, 0, 32, strip);
  artifact.strip = static_cast<int>(strip);
  fields.patterns("select", artifact.select);
  artifact.files = read_files(reading, fields, artifact.tree);
  artifact.ranges = read_ranges(reading, fields, artifact);
  artifact.sources = read_sources(reading, fields);
  if (const Json* chunks = fields.object("chunks", Need::optional)) {
    Fields list(reading, *chunks, fields.place_of("chunks"));
    list.text("sha256", Need::required, is_digest, artifact.chunks_sha256);
    artifact.chunks_sources = read_sources(reading, list);
    list.warn_of_unknown();
  }
  artifact.headers = read_headers(reading, fields, artifact);
  fields.warn_of_unknown();
  return artifact;
}

Component read_component(Reading& reading, const Json& object, const std::string& id,
                         const Manifest& manifest) {
  Component component;
  component.id = id;
  Fields fields(reading, object, "components." + id);
  fields.text("version", Need::optional, is_id, component.version);
  fields.text("license", Need::optional, is_id, component.license);
  if (!component.license.empty() && !manifest.licenses.contains(component.license))
    reading.refuse(fields.place_of("license"),
                   "there is no license \"" + component.license + "\" in this manifest");
  fields.patterns("optional", component.optional);
  if (const Json* adapter = fields.object("adapter", Need::optional)) {
    Fields members(reading, *adapter, fields.place_of("adapter"));
    members.texts("needs", Need::optional, is_file_name, component.needs);
    members.text("cxx11_abi", Need::optional, is_word, component.cxx11_abi);
    members.warn_of_unknown();
  }
  fields.texts("stands_in_for", Need::optional, is_file_name, component.stands_in_for);
  if (const Json* artifacts = fields.array("artifacts", Need::required))
    for (std::size_t i = 0; i < artifacts->as_array().size(); ++i)
      component.artifacts.push_back(
          read_artifact(reading, artifacts->as_array()[i], element(fields.place_of("artifacts"), i)));
  fields.warn_of_unknown();
  return component;
}

License read_license(Reading& reading, const Json& object, const std::string& key) {
  License license;
  Fields fields(reading, object, "licenses." + key);
  fields.text("id", Need::required, is_text, license.id);
  fields.text("url", Need::optional, is_url_text, license.url);
  fields.text("sha256", Need::nullable, is_digest, license.sha256);
  std::string accept = "implicit";
  fields.text("accept", Need::optional, is_consent, accept);
  license.explicit_consent = accept == "explicit";
  fields.text("redistribute", Need::optional, is_redistribution, license.redistribute);
  if (const Json* text = fields.object("text", Need::optional)) {
    Fields place(reading, *text, fields.place_of("text"));
    place.text("component", Need::required, is_id, license.text_component);
    place.text("path", Need::required, is_view_path, license.text_path);
    place.warn_of_unknown();
  }
  fields.warn_of_unknown();
  return license;
}

CudaRequirement read_cuda(Reading& reading, const Json& object, std::string place) {
  CudaRequirement cuda;
  Fields fields(reading, object, std::move(place));
  fields.text("toolkit", Need::required, is_short_version, cuda.toolkit);
  fields.texts("sass", Need::optional, is_capability, cuda.sass);
  fields.texts("ptx", Need::optional, is_capability, cuda.ptx);
  fields.text("target", Need::optional, is_word, cuda.target);
  fields.warn_of_unknown();
  return cuda;
}

RocmRequirement read_rocm(Reading& reading, const Json& object, std::string place) {
  RocmRequirement rocm;
  Fields fields(reading, object, std::move(place));
  fields.text("version", Need::required, is_version_bound, rocm.version);
  fields.texts("gfx", Need::optional, is_gfx, rocm.gfx);
  fields.warn_of_unknown();
  return rocm;
}

// `place` is the object's place in the document, "builds[3].requires". Unknown requirements are kept with
// their JSON text; their check gives "unknown".
Requirements read_requirements(Reading& reading, const Json& object, std::string place) {
  Requirements requirements;
  const std::string here = place;
  Fields fields(reading, object, std::move(place));
  fields.text("libc", Need::optional, is_word, requirements.libc);
  fields.text("glibc", Need::optional, is_version_bound, requirements.glibc);
  fields.text("glibcxx", Need::optional, is_version_bound, requirements.glibcxx);
  fields.text("cxxabi", Need::optional, is_version_bound, requirements.cxxabi);
  fields.text("os_version", Need::optional, is_version_bound, requirements.os_version);
  fields.text("vcruntime", Need::optional, is_version_bound, requirements.vcruntime);
  fields.text("driver", Need::optional, is_version_bound, requirements.driver);
  fields.texts("cpu", Need::optional, is_word, requirements.cpu);
  fields.texts("libraries", Need::optional, is_file_name, requirements.libraries);
  fields.flag("metal", requirements.metal);
  std::optional<std::uint64_t> bytes;
  fields.size("memory", Need::optional, bytes);
  requirements.memory = bytes.value_or(0);
  bytes.reset();
  fields.size("device_memory", Need::optional, bytes);
  requirements.device_memory = bytes.value_or(0);
  if (const Json* cuda = fields.object("cuda", Need::optional))
    requirements.cuda = read_cuda(reading, *cuda, fields.place_of("cuda"));
  if (const Json* rocm = fields.object("rocm", Need::optional))
    requirements.rocm = read_rocm(reading, *rocm, fields.place_of("rocm"));
  const std::vector<std::string> unknown = fields.warn_of_unknown();
  constexpr std::size_t most_unknown = 100;  // each is a check of its own in every report
  if (unknown.size() > most_unknown)
    reading.refuse(here, "it has " + std::to_string(unknown.size()) + " unknown requirements, and at most " +
                             std::to_string(most_unknown) + " are read");
  for (const std::string& name : unknown) requirements.unknown.emplace_back(name, object[name].dump());
  return requirements;
}

void read_options(Reading& reading, Fields& fields, Build& build) {
  const Json* options = fields.object("options", Need::optional);
  if (options == nullptr || !fields.few("options", options->as_object().size())) return;
  for (const auto& [name, value] : options->as_object()) {
    if (value.is_string())
      build.options.emplace_back(name, value.as_string());
    else if (value.is_number() || value.is_bool())
      build.options.emplace_back(name, value.dump());
    else
      reading.refuse(fields.place_of("options") + "." + name,
                     std::string("expected a string, a number or true or false, found ") + value.type_name());
  }
}

std::shared_ptr<const Build> read_build(Reading& reading, const Json& object, const std::string& place,
                                        const std::shared_ptr<const Manifest>& manifest) {
  auto build = std::make_shared<Build>();
  build->engine = manifest->engine;
  build->manifest = manifest;
  Fields fields(reading, object, place);
  fields.text("id", Need::required, is_id, build->id);
  fields.text("version", Need::required, is_id, build->version);
  fields.text("flavor", Need::required, is_lower_id, build->flavor);
  fields.text("os", Need::required, is_word, build->os);
  fields.text("arch", Need::required, is_word, build->arch);
  const auto check_component = [&](const std::string& id, const std::string& at) {
    if (!id.empty() && !manifest->components.contains(id))
      reading.refuse(at, "there is no component \"" + id + "\" in this manifest");
  };
  if (const Json* plugin = fields.object("plugin", Need::required)) {
    Fields members(reading, *plugin, fields.place_of("plugin"));
    members.text("component", Need::required, is_id, build->plugin_component);
    members.text("path", Need::required, is_view_path, build->plugin_path);
    members.warn_of_unknown();
    check_component(build->plugin_component, members.place_of("component"));
  }
  fields.texts("components", Need::required, is_id, build->components);
  for (std::size_t i = 0; i < build->components.size(); ++i)
    check_component(build->components[i], element(fields.place_of("components"), i));
  if (const Json* requirements = fields.object("requires", Need::optional))
    build->requires_ = read_requirements(reading, *requirements, fields.place_of("requires"));
  fields.texts("search", Need::optional, is_view_folder, build->search);
  fields.texts("lazy", Need::optional, is_file_name, build->lazy);
  fields.texts("capabilities", Need::optional, is_text, build->capabilities);
  std::sort(build->capabilities.begin(), build->capabilities.end());
  read_options(reading, fields, *build);
  std::int64_t priority = 0;
  fields.number("priority", Need::optional, -1'000'000, 1'000'000, priority);
  build->priority = static_cast<int>(priority);
  std::int64_t probe_seconds = 0;
  fields.number("probe_seconds", Need::optional, 1, 600, probe_seconds);
  build->probe_seconds = static_cast<int>(probe_seconds);
  fields.text("yanked", Need::nullable, is_text, build->yanked);
  fields.text("not_built", Need::nullable, is_text, build->not_built);
  fields.text("digest", Need::nullable, is_digest, build->digest);
  fields.warn_of_unknown();
  return build;
}

void read_members(Reading& reading, Fields& fields, const std::shared_ptr<Manifest>& manifest) {
  fields.text("engine", Need::required, is_lower_id, manifest->engine);
  fields.number("serial", Need::required, 0, std::numeric_limits<std::int64_t>::max(), manifest->serial);
  fields.text("created", Need::optional, is_time, manifest->created);
  fields.text("expires", Need::optional, is_time, manifest->expires);
  if (const Json* licenses = fields.object("licenses", Need::optional))
    for (const auto& [key, value] : licenses->as_object()) {
      if (!is_id(key)) reading.refuse("licenses." + key, "the name is not " + std::string(describe(is_id)));
      manifest->licenses.emplace(key, read_license(reading, value, key));
    }
  if (const Json* components = fields.object("components", Need::required))
    for (const auto& [id, value] : components->as_object()) {
      if (!is_id(id)) reading.refuse("components." + id, "the name is not " + std::string(describe(is_id)));
      manifest->components.emplace(id, read_component(reading, value, id, *manifest));
    }
  for (const auto& [key, license] : manifest->licenses)
    if (!license.text_component.empty() && !manifest->components.contains(license.text_component))
      reading.refuse("licenses." + key + ".text.component",
                     "there is no component \"" + license.text_component + "\" in this manifest");
  if (const Json* builds = fields.array("builds", Need::required)) {
    std::set<std::string_view> ids;
    for (std::size_t i = 0; i < builds->as_array().size() && !reading.mistake; ++i) {
      auto build = read_build(reading, builds->as_array()[i], element("builds", i), manifest);
      if (!ids.insert(build->id).second)
        reading.refuse(element("builds", i) + ".id", "\"" + build->id + "\" occurs twice");
      manifest->builds.push_back(std::move(build));
    }
  }
}

}  // namespace

Result<std::shared_ptr<const Manifest>> read_manifest(const Json& document, std::string repository,
                                                      std::string name, std::vector<std::string> signed_by) {
  auto manifest = std::make_shared<Manifest>();
  manifest->repository = std::move(repository);
  manifest->name = std::move(name);
  manifest->signed_by = std::move(signed_by);
  TRY_ASSIGN(manifest->warnings,
             read_document(document, manifest->name, [&](Reading& reading, Fields& fields) {
               read_members(reading, fields, manifest);
             }));
  return manifest;
}

}  // namespace enginehost::manifest
