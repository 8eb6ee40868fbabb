#include "host/acquire/description.hpp"

#include <algorithm>
#include <filesystem>

#include "base/files.hpp"
#include "base/ownership.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/transfer/transfer.hpp"

namespace enginehost::acquire {
namespace {

Json sources_of(const std::vector<manifest::Source>& listed, const manifest::Build& build) {
  Json sources = Json::array();
  for (const manifest::Source& source : listed) {
    Json entry = Json::object();
    switch (source.kind) {
      case manifest::Source::Kind::url:
        entry.set("url", without_passwords(source.location));
        break;
      case manifest::Source::Kind::oci:
        entry.set("oci", without_passwords(source.location));
        break;
      case manifest::Source::Kind::file: {
        const std::string where = resolve_file_source(source, build);
        transfer::is_url(where) ? entry.set("url", without_passwords(where)) : entry.set("file", where);
        break;
      }
      case manifest::Source::Kind::package_index:
        entry.set("package_index", Json::object().set("project", source.project).set("file", source.file));
        break;
    }
    sources.push(std::move(entry));
  }
  return sources;
}

Json component_of(const manifest::Component& component, const manifest::Build& build) {
  Json result = Json::object();
  if (!component.version.empty()) result.set("version", component.version);
  if (!component.license.empty()) result.set("license", component.license);
  if (!component.optional.empty()) result.set("optional", Json::strings(component.optional));
  if (!component.needs.empty() || !component.cxx11_abi.empty()) {
    Json adapter = Json::object().set("needs", Json::strings(component.needs));
    if (!component.cxx11_abi.empty()) adapter.set("cxx11_abi", component.cxx11_abi);
    result.set("adapter", std::move(adapter));
  }
  if (!component.stands_in_for.empty()) result.set("stands_in_for", Json::strings(component.stands_in_for));
  Json artifacts = Json::array();
  for (const manifest::Artifact& artifact : component.artifacts) {
    Json entry = Json::object();
    if (!artifact.sha256.empty()) entry.set("sha256", artifact.sha256);
    entry.set("size", artifact.size ? Json(*artifact.size) : Json());
    entry.set("archive", artifact.archive);
    if (!artifact.path.empty()) entry.set("path", artifact.path);
    if (artifact.strip != 0) entry.set("strip", artifact.strip);
    if (!artifact.select.empty()) entry.set("select", Json::strings(artifact.select));
    if (!artifact.tree.empty()) entry.set("tree", artifact.tree);
    if (!artifact.ranges.empty())
      entry.set("files", named_files(artifact.files)).set("ranges", named_ranges(artifact.ranges));
    if (!artifact.chunks_sha256.empty())
      entry.set("chunks", Json::object()
                              .set("sha256", artifact.chunks_sha256)
                              .set("sources", sources_of(artifact.chunks_sources, build)));
    artifacts.push(std::move(entry.set("sources", sources_of(artifact.sources, build))));
  }
  return std::move(result.set("artifacts", std::move(artifacts)));
}

Json requirements_of(const manifest::Requirements& needs) {
  Json result = Json::object();
  const std::pair<const char*, const std::string*> texts[] = {
      {"libc", &needs.libc},     {"glibc", &needs.glibc},           {"glibcxx", &needs.glibcxx},
      {"cxxabi", &needs.cxxabi}, {"os_version", &needs.os_version}, {"vcruntime", &needs.vcruntime},
      {"driver", &needs.driver}};
  for (const auto& [name, text] : texts)
    if (!text->empty()) result.set(name, *text);
  if (!needs.cpu.empty()) result.set("cpu", Json::strings(needs.cpu));
  if (needs.cuda) {
    Json cuda = Json::object();
    cuda.set("toolkit", needs.cuda->toolkit)
        .set("sass", Json::strings(needs.cuda->sass))
        .set("ptx", Json::strings(needs.cuda->ptx));
    if (!needs.cuda->target.empty()) cuda.set("target", needs.cuda->target);
    result.set("cuda", std::move(cuda));
  }
  if (needs.rocm)
    result.set("rocm",
               Json::object().set("version", needs.rocm->version).set("gfx", Json::strings(needs.rocm->gfx)));
  if (needs.metal) result.set("metal", true);
  if (needs.memory != 0) result.set("memory", needs.memory);
  if (needs.device_memory != 0) result.set("device_memory", needs.device_memory);
  if (!needs.libraries.empty()) result.set("libraries", Json::strings(needs.libraries));
  for (const auto& [name, text] : needs.unknown)
    if (auto value = parse_json(text, name)) result.set(name, std::move(*value));
  return result;
}

Json build_of(const manifest::Build& build) {
  Json options = Json::object();
  for (const auto& [name, value] : build.options) options.set(name, value);
  Json result = Json::object();
  result.set("id", build.id)
      .set("version", build.version)
      .set("flavor", build.flavor)
      .set("os", build.os)
      .set("arch", build.arch)
      .set("requires", requirements_of(build.requires_))
      .set("plugin", Json::object().set("component", build.plugin_component).set("path", build.plugin_path))
      .set("components", Json::strings(build.components))
      .set("search", Json::strings(build.search))
      .set("options", std::move(options))
      .set("lazy", Json::strings(build.lazy))
      .set("capabilities", Json::strings(build.capabilities))
      .set("priority", build.priority);
  if (build.probe_seconds != 0) result.set("probe_seconds", std::int64_t{build.probe_seconds});
  if (!build.yanked.empty()) result.set("yanked", build.yanked);
  if (!build.digest.empty()) result.set("digest", build.digest);
  return result;
}

// Other builds that serve only some requests came from a server.
bool is_derived_here(const cache::Installed& installed) {
  return !installed.only_for.empty() && !transfer::is_url(installed.only_for);
}

}  // namespace

Json named_files(std::vector<cache::TreeEntry> entries) {
  std::sort(entries.begin(), entries.end(),
            [](const cache::TreeEntry& a, const cache::TreeEntry& b) { return a.path < b.path; });
  Json files = Json::array();
  for (cache::TreeEntry& entry : entries) {
    Json file = Json::object().set("path", std::move(entry.path));
    if (entry.kind == cache::TreeEntry::Kind::link)
      file.set("link", std::move(entry.identity));
    else
      file.set("size", entry.size).set("sha256", std::move(entry.identity));
    if (entry.kind == cache::TreeEntry::Kind::executable) file.set("executable", true);
    files.push(std::move(file));
  }
  return files;
}

Json named_ranges(const std::vector<transfer::Range>& ranges) {
  Json result = Json::array();
  for (const transfer::Range& range : ranges)
    result.push(Json::object().set("begin", range.begin).set("end", range.end));
  return result;
}

std::string resolve_file_source(const manifest::Source& source, const manifest::Build& build) {
  const auto owner = build.manifest.lock();
  const std::string repository = owner ? owner->repository : std::string();
  if (transfer::is_url(repository))
    return transfer::join_url(repository + (repository.ends_with('/') ? "" : "/"), source.location);
  return path_text((path_of(repository) / path_of(source.location)).lexically_normal());
}

std::optional<Diagnosis> outside_of_repository(const manifest::Source& source, const manifest::Build& build) {
  const auto owner = build.manifest.lock();
  if (source.kind != manifest::Source::Kind::file || !owner || owner->repository.empty() ||
      transfer::is_url(owner->repository))
    return {};
  // Only somebody who may read the user's files anyway can name one of them.
  if (path_of(source.location).is_absolute() &&
      !who_may_change(path_of(owner->repository), Purpose::belief).problem)
    return {};
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::weakly_canonical(path_of(owner->repository), error);
  const std::string where = resolve_file_source(source, build);
  if (is_below(std::filesystem::weakly_canonical(path_of(where), error), folder)) return {};
  return std::move(diagnose(Code::source_file_not_readable)
                       .with(Key::file, where)
                       .with(Key::problem, "it lies outside of its repository " + path_text(folder)));
}

std::string manifest_of(const manifest::Build& build) {
  const auto owner = build.manifest.lock();
  Json components = Json::object(), licenses = Json::object();
  for (const manifest::Component* component : build.all_components()) {
    components.set(component->id, component_of(*component, build));
    if (!owner) continue;
    const auto found = owner->licenses.find(component->license);
    if (found == owner->licenses.end()) continue;
    const manifest::License& license = found->second;
    Json entry = Json::object();
    entry.set("id", license.id).set("accept", license.explicit_consent ? "explicit" : "implicit");
    if (!license.url.empty()) entry.set("url", without_passwords(license.url));
    if (!license.sha256.empty()) entry.set("sha256", license.sha256);
    if (!license.redistribute.empty()) entry.set("redistribute", license.redistribute);
    licenses.set(component->license, std::move(entry));
  }
  Json document = Json::object();
  // No "expires", because an installed build stays usable.
  document.set("format", 1).set("engine", build.engine).set("serial", owner ? owner->serial : 0);
  if (owner && !owner->created.empty()) document.set("created", owner->created);
  document.set("licenses", std::move(licenses))
      .set("components", std::move(components))
      .set("builds", Json::array().push(build_of(build)));
  return document.dump();
}

Result<Json> published_manifest(const cache::Installed& installed) {
  // An older version kept queries in its records.
  TRY_ASSIGN(Json document, parse_json(without_passwords(installed.manifest),
                                       "the record of the installed " + installed.build));
  if (installed.id.empty()) return document;
  Json builds = Json::array();
  for (Json build : document["builds"].as_array()) {
    if (build.is_object()) build.set("id", installed.id);
    builds.push(std::move(build));
  }
  document.set("builds", std::move(builds));
  return document;
}

std::string describe_origin(const cache::Installed& installed, const std::string& own_repository) {
  if (!installed.in_place.empty()) return "from " + installed.in_place;
  if (installed.files_by == "bundle") return "from a bundle, unsigned";
  if (is_derived_here(installed)) return std::string(derived_here) + ", only for --from-index";
  if (installed.origin.empty()) return "origin unknown";
  if (!own_repository.empty() && installed.origin == own_repository && installed.signers.empty())
    return "from EngineHost's own repository";
  std::string text = "from " + installed.origin;
  text += installed.signers.empty() ? ", unsigned" : ", signed by " + join(installed.signers, ", ");
  if (!installed.only_for.empty()) text += ", only for requests that name it";
  return text;
}

Json origin_of(const cache::Installed& installed) {
  const auto text = [](const std::string& value) { return value.empty() ? Json() : Json(value); };
  return Json::object()
      .set("repository", text(installed.origin))
      .set("signed_by", Json::strings(installed.signers))
      .set("files_by", text(installed.files_by))
      .set("only_for", text(installed.only_for))
      .set("derived", is_derived_here(installed) ? Json(derived_here) : Json());
}

}  // namespace enginehost::acquire
