#include "tools/publish/lint.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <system_error>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "cache/tree_list.hpp"
#include "host/acquire/component.hpp"
#include "tools/publish/add.hpp"
#include "tools/publish/names.hpp"
#include "tools/publish/requirements.hpp"
#include "tools/publish/signing.hpp"
#include "tools/publish/vendor_facts.hpp"

namespace enginehost::publish {
namespace {

namespace fs = std::filesystem;
using manifest::Artifact;
using manifest::Build;
using manifest::Component;
using manifest::Source;

// Names and digests that occurred in the manifests so far.
struct SeenNames {
  std::map<std::string, std::string> document_of_build;      // by the build's id
  std::map<fs::path, std::optional<std::string>> digest_of;  // of files/: builds share large ones
};

// Checks one manifest.
class LintRun {
 public:
  LintRun(const Workspace& workspace, const std::string& document, std::uint64_t document_bytes,
          SeenNames& seen, LintFindings& findings)
      : workspace_(workspace),
        document_(document),
        document_bytes_(document_bytes),
        seen_(seen),
        findings_(findings) {}

  void license(const std::string& key, const manifest::License& license,
               const std::map<std::string, Component>& components) {
    const std::string place = "licenses." + key;
    if (const auto found = components.find(license.text_component); found != components.end())
      for (const Artifact& one : found->second.artifacts)
        if (const auto facts = workspace_.facts_of(one); facts && !facts->has_file(license.text_path))
          error(place + ".text", license.text_path + " is not in " + license.text_component,
                "correct \"path\"");
    if (license.id == "LicenseRef-unknown")
      warning(place, "its id is LicenseRef-unknown, so that users cannot see under which terms they get it",
              "write its SPDX id, or add the build again with --license NAME --license-id ID");
    if (!license.explicit_consent) return;
    if (license.sha256.empty())
      error(place, "it asks for acceptance and no sha256 says of which text", "add the sha256 of its text");
    if (license.url.empty() && license.text_component.empty())
      error(place, "it asks for acceptance and nobody can read it", "add its \"url\", or its \"text\"");
  }

  void component(const Component& component, bool used) {
    const std::string place = "components." + component.id;
    if (!used) warning(place, "no build uses it", "remove it");
    if (component.license.empty()) warning(place, "it names no license", "name one of \"licenses\" there");
    for (const Artifact& one : component.artifacts) artifact(one, component, place);
  }

  // Users get only one of the two, and would not notice when the other is withdrawn.
  void id_of(const Build& build) {
    const auto [first, is_new] = seen_.document_of_build.emplace(build.id, document_);
    if (!is_new)
      error("builds." + build.id, first->second + " has a build of this id, too", "rename or remove one");
  }

  void build(const Build& build) {
    const std::string place = "builds." + build.id;
    if (!build.yanked.empty()) return;
    // A plugin that was not compiled is no mistake: the build says so, and its engine's files exist.
    const bool built = build.not_built.empty();
    std::vector<ArtifactFacts> parts, all_parts;  // the first excludes optional libraries
    std::vector<std::string> unseen;
    bool whole = true;
    for (const Component* component : build.all_components()) {
      if (!built && component->id == build.plugin_component) continue;
      whole = whole && !component->artifacts.empty();
      if (component->artifacts.empty() && !built && !component->stands_in_for.empty()) continue;
      if (component->artifacts.empty())
        error("components." + component->id, "it has no artifact", "add it: engine-manifest add");
      else if (auto facts = facts_of(*component)) {
        stand_ins(*component, *facts);
        all_parts.push_back(*facts);
        parts.push_back(without_optional(std::move(*facts), *component, build));
      } else
        unseen.push_back(component->id);
    }
    if (!whole) return;
    if (!unseen.empty())
      return warning(
          place, join(unseen, ", ") + (unseen.size() == 1 ? " was" : " were") + " never looked into",
          workspace_.has_engines_folder()
              ? "add the build with engine-manifest add"
              : "only a repository that engine-manifest init and add made shows what its files need");
    if (built) digest(build, parts, place);
    if (built) plugin(build, parts, place);
    system(build, parts, place);
    libraries(build, parts, place);
    reach(build, all_parts, place);
    lazy(build, parts, place);
    requirements(build, parts, place);
  }

 private:
  Diagnosis finding(const std::string& member, const std::string& problem, const std::string& remedy) const {
    return diagnose(Code::manifest_fails_for_users)
        .with(Key::document, document_)
        .with(Key::member, member)
        .with(Key::problem, problem)
        .with(Key::remedy, remedy);
  }
  void error(const std::string& member, const std::string& problem, const std::string& remedy) {
    findings_.errors.push_back(finding(member, problem, remedy));
  }
  void warning(const std::string& member, const std::string& problem, const std::string& remedy) {
    findings_.warnings.push_back(finding(member, problem, remedy));
  }

  std::optional<ArtifactFacts> facts_of(const Component& component) const {
    for (const Artifact& one : component.artifacts)
      if (auto facts = workspace_.facts_of(one)) return facts;
    return std::nullopt;
  }

  // Removes the libraries that the build can do without, because users may lack what those need.
  static ArtifactFacts without_optional(ArtifactFacts facts, const Component& component, const Build& build) {
    std::erase_if(facts.libraries, [&](const LibraryFacts& library) {
      return std::any_of(component.optional.begin(), component.optional.end(), [&](const auto& pattern) {
        return library.path != build.plugin_path && matches_pattern(library.path, pattern);
      });
    });
    return facts;
  }

  void artifact(const Artifact& artifact, const Component& component, const std::string& place) {
    if (artifact.sha256.empty())
      error(place, "an archive has no sha256: it is listed and never installed", "add its sha256");
    if (artifact.size && *artifact.size == 0 && artifact.sha256 != sha256_hex(""))
      error(place, "an archive has the size 0, and its sha256 is not that of an empty file",
            "add its size in bytes");
    if (!artifact.size)
      warning(place, "an archive has no size: users cannot see what they download", "add its size in bytes");
    if (artifact.sources.empty()) error(place, "an archive has no source", "name a url or a file");
    for (const Source& one : artifact.sources) source(one, artifact, component, place);
    chunks(artifact, place);
    const auto facts = workspace_.facts_of(artifact);
    if (artifact.tree.empty()) {
      if (artifact.archive != "none" && !artifact.sha256.empty())
        warning(place, "it does not name its files, so users cannot compare those of a bundle with it",
                facts && !facts->tree.empty() ? "add \"tree\": \"" + facts->tree + "\""
                                              : "add the build with engine-manifest add");
      return;
    }
    if (!facts ? workspace_.was_looked_into(artifact.sha256)
               : !facts->tree.empty() && facts->tree != artifact.tree)
      error(place, "its archive unpacks to other files than those of \"tree\"",
            "add it again, or remove \"files\" and \"tree\" here and \"digest\" of the build");
    if (artifact.files.empty() && artifact.archive != "none" &&
        (!facts || names_fit(facts->files, document_bytes_)))
      warning(
          place,
          "it names its tree and not each file, so users' machines unpack the archive only after all of it "
          "has arrived",
          "add the build with engine-manifest add");
  }

  void chunks(const Artifact& artifact, const std::string& place) {
    if (!artifact.chunks_sha256.empty() && artifact.chunks_sources.empty())
      error(place + ".chunks", "the list of its pieces has no source", "name a file or a url, or remove it");
    for (const Source& source : artifact.chunks_sources) {
      if (source.kind != Source::Kind::file || path_of(source.location).is_absolute()) continue;
      const auto file = workspace_.file_of(source.location);
      if (!file) {
        error(place + ".chunks", source.location + " leaves the repository", "put the file below chunks/");
        continue;
      }
      const auto text = read_file(*file, 8u << 20);
      if (!text)
        error(place + ".chunks", source.location + " is not in the repository", "add the file again");
      else if (sha256_hex(*text) != artifact.chunks_sha256)
        error(place + ".chunks", source.location + " has other bytes than its sha256 says",
              "add the file again");
    }
  }

  void source(const Source& source, const Artifact& artifact, const Component& component,
              const std::string& place) {
    const std::string name = source.kind == Source::Kind::package_index ? source.file : source.location;
    switch (source.kind) {
      case Source::Kind::url:
        if (!source.location.starts_with("https://"))
          warning(place, source.location + " is not https: anybody on the way sees what is fetched",
                  "publish over https");
        break;
      case Source::Kind::file:
        file_source(source, artifact, place);
        break;
      case Source::Kind::package_index:
        wheel(source, artifact, component, place);
        break;
      case Source::Kind::oci:
        if (source.location.find("@sha256:") == std::string::npos)
          error(place, source.location + " names no digest", "write registry/name@sha256:…");
        break;
    }
    const std::string path = name.substr(0, name.find('?'));
    if (const std::string kind = archive_kind(path);
        source.kind != Source::Kind::oci && kind != "none" && kind != artifact.archive)
      error(place, name + " is a " + kind + " file, the manifest says " + artifact.archive,
            "correct \"archive\"");
  }

  // The index lists a file under its own project only, and the file's name contains its version.
  void wheel(const Source& source, const Artifact& artifact, const Component& component,
             const std::string& place) {
    if (!source.file.ends_with(".whl"))
      return warning(place, source.file + " is no wheel", "name the wheel's file");
    const auto name = read_wheel_name(source.file);
    if (!name) return error(place, source.file + " is not named as wheels are", "name the wheel's file");
    if (name->project != normal_project(source.project))
      error(place, source.file + " is not of the project " + source.project, "correct \"project\"");
    if (!component.version.empty() && name->version != component.version)
      warning(place, source.file + " is version " + name->version + ", the component " + component.version,
              "correct \"version\"");
    const auto facts = workspace_.facts_of(artifact);
    const auto own = facts && artifact.strip == 0 ? name_within(facts->files) : std::nullopt;
    if (own && (own->project != name->project || compare_versions(own->version, name->version) != 0))
      error(place,
            source.file + " is " + own->project + " " + own->version +
                " by what it holds: the package index has other bytes under that name",
            "add it under the name that the index has for it");
  }

  void file_source(const Source& source, const Artifact& artifact, const std::string& place) {
    const fs::path path(path_of(source.location));
    if (path.is_absolute())
      return warning(place, source.location + " is a path of your machine", "put the file below files/");
    const auto file = workspace_.file_of(source.location);
    if (!file) return error(place, source.location + " leaves the repository", "put the file below files/");
    const auto& digest = digest_of(*file);
    if (!digest)
      error(place, source.location + " is not in the repository", "put it there, or name a url");
    else if (!artifact.sha256.empty() && *digest != artifact.sha256)
      error(place, source.location + " has the sha256 " + *digest, "add the file again");
    std::error_code unknown;
    if (const auto size = fs::file_size(*file, unknown);
        digest && !unknown && artifact.size && size != *artifact.size)
      error(place,
            source.location + " has " + pluralize(size, "byte", "bytes") + ", the manifest says " +
                std::to_string(*artifact.size),
            "correct \"size\"");
  }

  // Empty when it cannot be read.
  const std::optional<std::string>& digest_of(const fs::path& file) {
    const auto [known, is_new] = seen_.digest_of.try_emplace(file);
    if (is_new)
      if (auto digest = sha256_of_file(file)) known->second = std::move(*digest);
    return known->second;
  }

  void digest(const Build& build, const std::vector<ArtifactFacts>& parts, const std::string& place) {
    if (build.digest.empty()) return;
    std::vector<std::string> trees;
    for (const ArtifactFacts& part : parts) {
      if (part.tree.empty()) return;
      trees.push_back(part.tree);
    }
    if (cache::digest_of_trees(trees) != build.digest)
      error(place + ".digest", "it is not that of the files that its components unpack to",
            "add the build again, or remove \"digest\"");
  }

  void plugin(const Build& build, const std::vector<ArtifactFacts>& parts, const std::string& place) {
    // The plugin's component is the first part.
    const auto& libraries = parts.front().libraries;
    const auto found = std::find_if(libraries.begin(), libraries.end(), [&](const LibraryFacts& library) {
      return library.path == build.plugin_path;
    });
    if (found == libraries.end())
      return error(place + ".plugin", build.plugin_path + " is not in " + build.plugin_component,
                   "correct plugin.path");
    if (!found->plugin)
      error(place + ".plugin", build.plugin_path + " does not export engine_plugin_v1",
            "docs/engine-authors.md says what a plugin is");
    else if (found->plugin_texts)
      descriptor(build, *found->plugin_texts, place);
  }

  void descriptor(const Build& build, const binary::PluginTexts& said, const std::string& place) {
    if (said.engine != build.engine)
      warning(place + ".plugin",
              "its plugin calls the engine " + said.engine + ", and the manifest calls it " + build.engine +
                  ": each open warns of that (EH-R12)",
              "add the build with --engine " + said.engine + ", or compile the plugin with the other name");
    if (const std::string problem = unserved_release(said, build.version); !problem.empty())
      warning(place + ".plugin", problem, remedy_of_unserved_release);
    const std::string range = binary::served_versions(said.capabilities);
    if (!range.empty() && !binary::is_version_range(range))
      warning(place + ".plugin", "the range of releases \"" + range + "\" of its plugin cannot be read",
              "write it as \"versions.>=1.17,<2\" in the plugin");
    if (build.capabilities.empty() && !said.capabilities.empty())
      warning(place + ".capabilities", "it has none, and its plugin has " + join(said.capabilities, ", "),
              "copy them, or add the build again");
  }

  void system(const Build& build, const std::vector<ArtifactFacts>& parts, const std::string& place) {
    for (const Component* component : build.all_components())
      for (const Artifact& artifact : component->artifacts)
        for (const Source& one : artifact.sources) {
          const auto name = read_wheel_name(one.file);
          if (name && !wheel_is_for(*name, build.os, build.arch))
            error(place, one.file + " is not for " + build.os + " " + build.arch, "name the right wheel");
        }
    const bool has_libraries =
        std::any_of(parts.begin(), parts.end(), [](const auto& part) { return !part.libraries.empty(); });
    const System system = system_of(parts);
    const auto machines = split(system.arch, '+');
    if (has_libraries &&
        (system.os != build.os || std::find(machines.begin(), machines.end(), build.arch) == machines.end()))
      error(place,
            "it is for " + build.os + " " + build.arch + ", its libraries are for " +
                (system.os.empty() ? "several systems" : system.os + " " + system.arch),
            "pair plugin and engine of one system");
  }

  void libraries(const Build& build, const std::vector<ArtifactFacts>& parts, const std::string& place) {
    // Windows compares names without regard to case, and outside() returns them in lower case.
    const bool windows = build.os == "windows";
    std::set<std::string> declared;
    for (const std::string& name : build.requires_.libraries)
      declared.insert(windows ? to_lower(name) : name);
    for (const Outside& one : outside(parts, build.flavor)) {
      if (!one.found_in.empty() && declared.contains(one.name))
        warning(place + ".requires.libraries",
                one.needed_by + " finds " + one.name + " in " + one.found_in +
                    ", but a machine that has it only there counts as lacking it",
                "leave it out: the check before loading searches where the library does");
      else if (!one.found_in.empty())
        warning(place,
                one.needed_by + " finds " + one.name + " in " + one.found_in +
                    ", a folder of the machine that it was linked on",
                "add a component that brings it, and a RUNPATH from $ORIGIN; else machines without that "
                "folder fail only after the download");
      else if (!declared.contains(one.name))
        error(place, one.needed_by + " needs " + one.name + ", which is in none of its components",
              "add a component that brings it, or name it in requires.libraries");
    }
  }

  void reach(const Build& build, const std::vector<ArtifactFacts>& parts, const std::string& place) {
    for (const OutOfReach& one : out_of_reach(build, parts))
      one.certain ? error(place + ".search", one.problem, one.remedy)
                  : warning(place + ".search", one.problem, one.remedy);
  }

  void lazy(const Build& build, const std::vector<ArtifactFacts>& parts, const std::string& place) {
    for (const std::string& name : build.lazy) {
      const bool present =
          std::any_of(build.search.begin(), build.search.end(), [&](const std::string& folder) {
            const std::string path = folder == "." ? name : folder + "/" + name;
            return std::any_of(parts.begin(), parts.end(),
                               [&](const ArtifactFacts& part) { return part.has_file(path); });
          });
      if (!present) error(place + ".lazy", name + " is in none of the search folders", "correct \"search\"");
    }
  }

  // The mark in the files and the member of the manifest say the same.
  void stand_ins(const Component& component, const ArtifactFacts& facts) {
    const std::set<std::string> named(component.stands_in_for.begin(), component.stands_in_for.end());
    const std::vector<std::string> marked = stand_ins_of(facts);
    const std::string place = "components." + component.id + ".stands_in_for";
    for (const std::string& name : marked)
      if (!named.contains(name))
        error(place, name + " is a stand-in, and the component does not name it", "add \"" + name + "\"");
    for (const std::string& name : named)
      if (std::ranges::find(marked, name) == marked.end())
        error(place, name + " is no stand-in of its files: it lacks EngineHost's note",
              "remove \"" + name + "\"");
  }

  void requirements(const Build& build, const std::vector<ArtifactFacts>& parts, const std::string& place) {
    const Json wanted = requirements_of(parts, build.flavor);
    const manifest::Requirements& said = build.requires_;
    const auto too_low = [&](const std::string& name, const std::string& least, const std::string& found,
                             const std::string& text) {
      error(place + ".requires." + name,
            "its files need " + least + ", it says " + (found.empty() ? "nothing" : found),
            "write \"" + name + "\": " + text);
    };
    const std::pair<const char*, const std::string*> bounds[] = {
        {"glibc", &said.glibc},           {"glibcxx", &said.glibcxx},     {"cxxabi", &said.cxxabi},
        {"os_version", &said.os_version}, {"vcruntime", &said.vcruntime}, {"libc", &said.libc}};
    for (const auto& [name, bound] : bounds) {
      const std::string& least = wanted[name].as_string();
      const bool is_version = least.starts_with(">=");
      if (!least.empty() && (is_version ? !is_at_least(*bound, least.substr(2)) : *bound != least))
        too_low(name, least, *bound, wanted[name].dump());
    }
    // Levels sort as their texts do.
    for (const Json& level : wanted["cpu"].as_array())
      if (std::none_of(said.cpu.begin(), said.cpu.end(), [&](const std::string& one) {
            return one.starts_with("x86-64-v") && one >= level.as_string();
          }))
        too_low("cpu", level.as_string(), join(said.cpu, ", "), wanted["cpu"].dump());
    const std::string& toolkit = wanted["cuda"]["toolkit"].as_string();
    const std::string found = said.cuda ? said.cuda->toolkit : "";
    if (!toolkit.empty() && compare_versions(found, toolkit) < 0)
      too_low("cuda", "the toolkit " + toolkit, found, wanted["cuda"].dump());
  }

  const Workspace& workspace_;
  const std::string& document_;
  std::uint64_t document_bytes_;
  SeenNames& seen_;
  LintFindings& findings_;
};

void odd(const std::string& warning, const std::string& document, LintFindings& findings) {
  findings.errors.push_back(diagnose(Code::manifest_fails_for_users)
                                .with(Key::document, document)
                                .with(Key::problem, warning)
                                .with(Key::remedy, "correct the spelling, or remove the field"));
}

void look_at(const Workspace& workspace, const fs::path& file, SeenNames& seen, LintFindings& findings) {
  const std::string name = path_text(file);
  const auto text = read_file(file, 8u << 20);
  if (!text) return findings.errors.push_back(text.error());
  if (!workspace.has_engines_folder()) as_its_index_says(workspace, name, *text, findings);
  const auto document = parse_json(*text, name);
  if (!document) return findings.errors.push_back(document.error());
  const auto manifest = manifest::read_manifest(*document, path_text(workspace.folder()), name);
  if (!manifest) return findings.errors.push_back(manifest.error());
  if (!workspace.has_engines_folder()) as_its_path_says(workspace, name, (*manifest)->engine, findings);
  for (const std::string& warning : (*manifest)->warnings) odd(warning, name, findings);
  LintRun run(workspace, name, text->size(), seen, findings);
  std::set<std::string> used;
  for (const auto& build : (*manifest)->builds)
    for (const Component* component : build->all_components()) used.insert(component->id);
  for (const auto& [key, license] : (*manifest)->licenses) run.license(key, license, (*manifest)->components);
  for (const auto& [id, component] : (*manifest)->components) run.component(component, used.contains(id));
  for (const auto& build : (*manifest)->builds) {
    run.id_of(*build);
    run.build(*build);
  }
}

void look_at_date(const Workspace& workspace, std::int64_t now, LintFindings& findings) {
  auto date = root_date(workspace, now);
  const auto expired = root_has_expired(workspace, now);
  if (!date || !expired) return;  // unreadable parts are reported as contradictions
  if (*date) (*expired ? findings.errors : findings.warnings).push_back(std::move(**date));
}

}  // namespace

LintFindings lint(const Workspace& workspace, std::optional<std::int64_t> now) {
  LintFindings findings;
  const auto files = workspace.engine_files();
  if (!files) findings.errors.push_back(files.error());
  if (files && files->empty())
    findings.errors.push_back(diagnose(Code::manifest_fails_for_users)
                                  .with(Key::document, path_text(workspace.folder()))
                                  .with(Key::problem, workspace.has_engines_folder()
                                                          ? "there is no manifest in engines/"
                                                          : "its index.json lists no manifest")
                                  .with(Key::remedy, "add a build: engine-manifest add"));
  const auto index = workspace.index();
  for (const std::string& warning : workspace.warnings()) odd(warning, "repository.json", findings);
  if (index && *index)
    for (const std::string& warning : (*index)->warnings) odd(warning, "index.json", findings);
  if (auto facts = workspace_facts(workspace.folder()); !facts) findings.errors.push_back(facts.error());
  vendor_facts_as_the_index_says(workspace, findings);
  SeenNames seen;
  if (files)
    for (const fs::path& file : *files) look_at(workspace, file, seen, findings);
  if (auto root = root_contradictions(workspace); !root)
    findings.errors.push_back(std::move(root).error());
  else
    for (Diagnosis& one : *root) findings.errors.push_back(std::move(one));
  if (now) look_at_date(workspace, *now, findings);
  return findings;
}

}  // namespace enginehost::publish
